"""`finalize` of the ReAct variants: at the cap, one last call that must answer."""

from dataclasses import replace

from langchain_core.messages import AIMessage, BaseMessage

from graphs import audit
from graphs.asking import Asked, ask
from graphs.model_source import ModelSource
from graphs.node import Node, Scope, Update
from graphs.nodes.call_model import refusal_of
from graphs.nodes.call_react_model import STOP
from graphs.nodes.finalize import OFF
from graphs.react.context import ReactContext, settings_of
from graphs.react.keywords import keyword_of
from graphs.react.parser import FinalAnswer, FormatError, parse
from graphs.react.prompt import ReactPrompt
from graphs.react.replies import text_of
from graphs.react.said import Said
from graphs.react.turns import turns_of
from graphs.react.views import Recall, messages_of
from graphs.state import Ending, Progress, State, begin, ending, progress_of
from graphs.transcript import failed_result, newest_question, unanswered
from graphs.usage import spent_beside, usage_of
from graphs.waiting import Steps

MUST_ANSWER = "You must answer now."
NO_ANSWER = "I couldn't complete this within the turns that I was allowed."


def finalize_react(
    source: ModelSource, prompt: ReactPrompt, recall: Recall, *, context: type[ReactContext]
) -> Node:
    """Make the node that asks for an answer at the cap.

    It keeps true that
    * the request ends with 'You must answer now.', and an action in the reply is not run;
    * the run ends here as `turn_limit`: with the answer, or with a sentence that says there is
      none; no Thought or Action line is taken for an answer.

    Args:
        source: The model.
        prompt: The ReAct prompt.
        recall: What of the run the model is shown.
        context: The variant's settings.
    """

    def body(state: State, scope: Scope) -> Steps[Update]:
        settings = settings_of(scope.context, ReactContext)
        messages = state["messages"]
        question = newest_question(messages)
        asked_by = question.id or ""
        if not source.is_ready(settings):
            yield source.prepare(settings)
        progress = progress_of(state, asked_by) or begin(asked_by, settings.cap)
        closed = [failed_result(call, OFF, "limit_reached") for call in unanswered(messages)]
        recorded = [*messages, *closed]
        view = yield from recall.view(turns_of(recorded, asked_by), state, scope)
        most = settings.observation_limit
        system, opening = yield from prompt.fill(scope)
        sent = messages_of(view, opening, messages, question, most, closing=MUST_ANSWER)
        asked = yield from ask(
            source, system, sent, recorded, scope, offered=(), stop=[STOP], cut=Said
        )
        answer = None
        if asked.reply is not None:
            answer, said_text = _answer(asked.reply)
            last = asked.reply.model_copy(
                update={"content": said_text, "tool_calls": [], "invalid_tool_calls": []}
            )
            asked = replace(asked, reply=last)
        step = progress["rounds"] + 1
        audit.model_call(scope, asked, step=step, messages=len(sent) + 1, offered=())
        said: list[BaseMessage] = [*closed, *([asked.reply] if asked.reply else [])]
        return {
            "messages": said,
            "progress": {**progress, "open_calls": 0},
            "usage": usage_of(
                [*messages, *said],
                asked_by,
                source.name(settings),
                asked,
                beside=spent_beside(state),
            ),
            **_end(asked, answer, limit_of(progress)),
            **(yield from recall.told(state, scope)),
        }

    return Node("finalize", body, context, source.reach.tools)


def _answer(reply: AIMessage) -> tuple[str | None, str]:
    """Return the answer in a last reply, and what of the reply is recorded."""
    parsed = parse(text_of(reply))
    if isinstance(parsed, FinalAnswer):
        return parsed.text, parsed.said
    plain = parsed.said if isinstance(parsed, FormatError) else ""
    if any(keyword_of(line) for line in plain.splitlines()):
        plain = ""
    return plain.strip() or None, parsed.said


def _end(asked: Asked, answer: str | None, limit: str) -> Ending:
    if asked.reply is None:
        reason = f"{limit}, and then the model failed: {asked.failure}"
        return ending(None, "no_answer", reason)
    if answer:
        return ending(
            answer, "turn_limit", f"{limit}; this is the last answer, given without tools"
        )
    said = refusal_of(asked.reply) or "the last call gave no answer"
    return ending(NO_ANSWER, "turn_limit", f"{limit}; {said}")


def limit_of(progress: Progress) -> str:
    """Say which limit ended the turns."""
    cap = progress["cap"]
    if progress["rounds"] >= cap:
        return f"the limit of {cap} turn{'s' * (cap != 1)} was reached"
    done = progress["rounds"]
    return f"LangGraph's recursion limit had no room for more than {done} of {cap} turns"
