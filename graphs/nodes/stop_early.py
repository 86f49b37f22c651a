"""`stop_early`: at the cap a run ends with its notes, from which another one can go on."""

from graphs.model_source import ModelSource
from graphs.node import Node, Scope, Update
from graphs.nodes.finalize import OFF
from graphs.nodes.finalize_react import limit_of
from graphs.react.context import ReactContext
from graphs.react.views import Recall
from graphs.state import State, begin, ending, progress_of
from graphs.transcript import failed_result, newest_question, unanswered
from graphs.usage import usage_of
from graphs.waiting import Steps

GOES_ON = "the notes say how far it came, and a new run can go on"
BEGINS_ANEW = "nothing was noted, so a new run begins anew: give it more turns"


def stop_early(source: ModelSource, recall: Recall, *, context: type[ReactContext]) -> Node:
    """Make the node that ends a run at its cap (seed "ReAct", To-do notes: stop rule).

    It keeps true that the model is not called again, and no answer is made up: the run ends as
    `stopped_early`, with what it noted.

    Args:
        source: The model, to name it in the receipt.
        recall: What the run noted.
        context: The variant's settings.
    """

    def body(state: State, scope: Scope) -> Steps[Update]:
        messages = state["messages"]
        question = newest_question(messages).id or ""
        progress = progress_of(state, question) or begin(question, scope.context.cap)
        closed = [failed_result(call, OFF, "limit_reached") for call in unanswered(messages)]
        told = yield from recall.told(state, scope)
        noted = any(told.values())
        reason = f"{limit_of(progress)}; {GOES_ON if noted else BEGINS_ANEW}"
        return {
            "messages": closed,
            "progress": {**progress, "open_calls": 0},
            "usage": usage_of([*messages, *closed], question, source.name(scope.context)),
            **ending(None, "stopped_early", reason),
            **told,
        }

    return Node("stop_early", body, context)
