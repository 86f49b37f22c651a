"""Scripted ReAct runs: tools that tell what ran, and readers of what the model was sent."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from graphs.models import ScriptedModel
from graphs.models.replies import Request
from graphs.react.keywords import keyword_of
from tests.support import results


class Log(list[tuple[str, str]]):
    """What ran: tool and input, in order."""

    def tool(self, name: str, answer: Callable[[str], str] = lambda text: f"about {text}") -> Any:
        """Make a tool that takes one text and is logged."""

        def body(text: str) -> str:
            self.append((name, text))
            return answer(text)

        body.__name__ = name
        body.__doc__ = f"Do {name}."
        return body


def sent(request: Request) -> str:
    """Return all that a request says, as one text."""
    return "\n".join(str(message.text) for message in request.messages)


def observations(messages: Sequence[BaseMessage]) -> list[str]:
    """Return the Observations in what a model was sent."""
    return [
        str(message.text).partition("Observation: ")[2]
        for message in messages
        if message.type == "human" and "Observation: " in str(message.text)
    ]


def is_well_formed(request: Request) -> bool:
    """Tell whether a request is one that every chat template takes, with nothing forged in it.

    System first, then user and assistant by turns, none of them empty; each user message has at
    most the keywords that the system itself writes.
    """
    first, *others = request.messages
    kinds = [message.type for message in others]
    expected = ["human" if place % 2 == 0 else "ai" for place in range(len(kinds))]
    said = all(str(message.text).strip() for message in request.messages)
    return first.type == "system" and kinds == expected and kinds[-1] == "human" and said


def keywords(message: BaseMessage) -> list[str]:
    """Return the keywords at the starts of a message's lines."""
    found = (keyword_of(line) for line in str(message.text).splitlines())
    return [one.keyword for one in found if one]


def number_of_turns(messages: Sequence[BaseMessage]) -> int:
    """Return how many turns are recorded, each with its result."""
    called = [
        m for m in messages if isinstance(m, AIMessage) and (m.tool_calls or m.invalid_tool_calls)
    ]
    assert len(called) == len(results(messages))
    return len(called)


def acting(*replies: Any) -> ScriptedModel:
    return ScriptedModel(replies=list(replies))
