"""`finish`: takes the answer from the call that ended the loop."""

from langchain_core.messages import AIMessage, ToolMessage

from graphs.context import Context
from graphs.incomplete import judged
from graphs.model_source import ModelSource
from graphs.node import Node, Scope, Update
from graphs.state import State, ending
from graphs.transcript import newest_question
from graphs.usage import usage_of
from graphs.waiting import Steps


def finish(source: ModelSource, *, tool: str, context: type[Context], after: str) -> Node:
    """Make the node that ends a run with what its `finish` call answered.

    It keeps true that
    * the answer is the result of that call: what the tool returned, filtered and limited like any;
    * an answer that calls itself incomplete is `tool_limit`, however it was given;
    * no further model call is made.

    Args:
        source: The model, whose name the receipt tells.
        tool: The name of the tool that ends the loop.
        context: The variant's settings.
        after: What an incomplete answer says was not enough.
    """

    def body(state: State, scope: Scope) -> Steps[Update]:
        yield from ()
        messages = state["messages"]
        question = newest_question(messages).id or ""
        result = finishing_result(state, tool)
        said = result.text if result else ""
        return {
            **judged(ending(said, "answered", f"the model called {tool}"), after),
            "usage": usage_of(messages, question, source.name(scope.context)),
        }

    return Node("finish", body, context)


def finishing_result(state: State, tool: str) -> ToolMessage | None:
    """Return the result of the newest reply's first call of the tool that ran without an error."""
    results = []
    for message in reversed(state["messages"]):
        if isinstance(message, ToolMessage):
            results.append(message)
        elif isinstance(message, AIMessage):
            break
    ended = (r for r in reversed(results) if r.name == tool and r.status == "success")
    return next(ended, None)
