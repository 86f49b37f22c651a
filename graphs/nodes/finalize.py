"""`finalize`: the one last call with tools off, at a cap."""

from langchain_core.messages import BaseMessage, ToolCall, ToolMessage

from graphs import audit
from graphs.asking import Asked, ask
from graphs.context import Context
from graphs.limits_hit import Limit, note_hit
from graphs.model_source import ModelSource
from graphs.models.quirks import answer_text
from graphs.node import Node, Scope, Update
from graphs.nodes.call_model import refusal_of
from graphs.state import Ending, Progress, State, Status, begin, ending, progress_of
from graphs.system_prompt import SystemPrompt
from graphs.transcript import failed_result, model_view, newest_question, reply_calls, unanswered
from graphs.usage import usage_of
from graphs.waiting import Steps

OFF = "not executed: the tools are off, the limit is reached"
NO_ANSWER = "I couldn't complete this within the tool calls that I was allowed."


def finalize(
    source: ModelSource,
    prompt: SystemPrompt,
    *,
    context: type[Context],
    counted: str = "tool round",
) -> Node:
    """Make the node that asks for an answer from what was found so far.

    It keeps true that
    * the request holds no tools, and a call in the reply is answered, not run;
    * the run ends here, flagged `tool_limit` or `stuck`: with the reply's text, or with a sentence
      that says there is none;
    * it is logged and counted which tool took the run there.

    Args:
        source: The model.
        prompt: The system prompt, as in `call_model`.
        context: The variant's settings.
        counted: What the cap counts, in the singular.
    """

    def body(state: State, scope: Scope) -> Steps[Update]:
        messages = state["messages"]
        question = newest_question(messages).id or ""
        if not source.is_ready(scope.context):
            yield source.prepare(scope.context)
        progress = progress_of(state, question) or begin(question, scope.context.cap)
        system = yield from prompt.fill(scope)
        closed = [source.reach.answer(call, _off(call)) for call in unanswered(messages)]
        recorded = [*messages, *closed]
        view = model_view(recorded)
        asked = yield from ask(source, system, view, recorded, scope, offered=())
        step = progress["rounds"] + 1
        audit.model_call(scope, asked, step=step, messages=len(view) + 1, offered=())
        said: list[BaseMessage] = [*closed]
        if asked.reply is not None:
            off = [source.reach.answer(call, _off(call)) for call in reply_calls(asked.reply)]
            said += [asked.reply, *off]
        cost = usage_of([*messages, *said], question, source.name(scope.context), asked)
        limit = _limit(progress, counted)
        status: Limit = "stuck" if progress["stuck"] else "tool_limit"
        yield from note_hit(messages, question, status, scope)
        return {
            "messages": said,
            "progress": {**progress, "open_calls": 0},
            "usage": cost,
            **_end(asked, limit, status),
        }

    return Node("finalize", body, context, source.reach.tools)


def _off(call: ToolCall) -> ToolMessage:
    return failed_result(call, OFF, "limit_reached")


def _end(asked: Asked, limit: str, status: Status) -> Ending:
    if asked.reply is None:
        reason = f"{limit}, and then the model failed: {asked.failure}"
        return ending(None, "no_answer", reason)
    if answer := answer_text(asked.reply):
        reason = f"{limit}; this is the last answer, given without tools"
        return ending(answer, status, reason)
    said = refusal_of(asked.reply) or "the last call, without tools, gave no text"
    return ending(NO_ANSWER, status, f"{limit}; {said}")


def _limit(progress: Progress, counted: str) -> str:
    if progress["stuck"]:
        return "the same tool call came four times in a row with nothing new"
    spent = progress["calls"] if counted == "tool call" else progress["rounds"]
    cap = progress["cap"]
    if max(spent, progress["rounds"]) >= cap:
        return f"the limit of {cap} {counted}{'s' * (cap != 1)} was reached"
    return f"LangGraph's recursion limit had no room for more than {spent} of {cap} {counted}s"
