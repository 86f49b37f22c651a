"""`call_model`, forced: asks once for a call of the one tool, and for nothing else."""

from graphs import audit
from graphs.asking import Asked, ask
from graphs.context import Context
from graphs.model_source import ModelSource
from graphs.node import Node, Scope, Update
from graphs.nodes.call_model import closed_calls, new_run
from graphs.records import filtered, model_failed, rejected
from graphs.state import State
from graphs.system_prompt import SystemPrompt
from graphs.transcript import newest_question
from graphs.usage import usage_of
from graphs.waiting import Steps
from tools.record import RecordTool


def force_call(
    source: ModelSource, prompt: SystemPrompt, *, tool: RecordTool, context: type[Context]
) -> Node:
    """Make the node that asks the model to call one tool.

    It keeps true that
    * the model is asked once; only a request that failed on its way is made again;
    * it is sent the system prompt and the newest human message, none of what was said before: that
      is the text of another record;
    * every reply is recorded as it came; whether it did as it was told is judged after;
    * a model that fails for good ends the run with `no_answer`, and a request that its server's
      filter refuses with `rejected`, each with the reason.

    Args:
        source: The model, with the tool it is told to call.
        prompt: The system prompt.
        tool: The tool.
        context: The variant's settings.
    """

    def body(state: State, scope: Scope) -> Steps[Update]:
        messages = state["messages"]
        question = newest_question(messages)
        if not source.is_ready(scope.context):
            yield source.prepare(scope.context)
        update = new_run(state, scope)
        closed = yield from closed_calls(state, scope, source.reach)
        system = yield from prompt.fill(scope)
        view = [*(said for said in messages if said.type == "system"), question]
        offered = [tool.name]
        recorded = [*messages, *closed]
        asked = yield from ask(source, system, view, recorded, scope, offered=offered)
        audit.model_call(scope, asked, step=1, messages=len(view) + 1, offered=offered)
        said = [*closed, asked.reply] if asked.reply else closed
        update |= {"messages": said, "record": None, "rejection": None}
        if asked.reply is None:
            name = source.name(scope.context)
            cost = usage_of([*messages, *said], question.id or "", name, asked)
            update |= {**_end(asked), "usage": cost}
        return update

    return Node("call_model", body, context)


def _end(asked: Asked) -> Update:
    """Say how a run ends whose model gave no reply."""
    if asked.filtered:
        return rejected(filtered(asked.failure))
    return rejected(model_failed(asked.failure), status="no_answer")
