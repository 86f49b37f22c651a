"""`call_model`: where the system prompt, the notes and the tool list meet the model."""

from collections.abc import Callable, Sequence

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)

from graphs import audit
from graphs.asking import Asked, ask
from graphs.checking import Check
from graphs.context import Context
from graphs.ledger import Ledger
from graphs.model_source import ModelSource
from graphs.models.quirks import answer_text, finish_reason, is_written_tool_call
from graphs.node import Node, Scope, Update
from graphs.reach import Reach, as_reach
from graphs.state import (
    OUTCOME,
    Ending,
    Progress,
    State,
    begin,
    current,
    ending,
    loaded_tools,
    progress_of,
)
from graphs.system_prompt import SystemPrompt
from graphs.tool_round import recorded_result
from graphs.transcript import (
    INTERRUPTED,
    SUPERSEDED,
    failed_result,
    model_view,
    newest_question,
    unanswered,
)
from graphs.usage import usage_of
from graphs.waiting import Steps
from tools import Contract

EMPTY_REPLY = "Your last reply was empty. Call a tool, or answer the question in plain language."
WRITTEN_CALL = (
    "Your last reply wrote a tool call as text, and that runs nothing. "
    "Call the tool itself, or answer the question in plain language."
)


def call_model(
    source: ModelSource,
    prompt: SystemPrompt,
    *,
    tools: Sequence[Contract] | Reach,
    context: type[Context],
    judge: Callable[[Ending], Ending] | None = None,
    straight: bool = False,
) -> Node:
    """Make the node that asks the model for its next reply.

    It keeps true that
    * a new human message starts a new run: budgets and outcome are reset, calls left open are
      closed as superseded, and what searches loaded is put away;
    * every reply is recorded as it came, once, with what it cost;
    * an empty reply, or a tool call written as text, is asked for once more and then ends the run
      with `no_answer`;
    * a model that fails for good ends the run with `no_answer` and the reason; what tools did stays
      recorded.

    Args:
        source: The model.
        prompt: The system prompt.
        tools: The tools it is shown; those that change state are left out of a read-only run.
        context: The variant's settings.
        judge: Looks at the ending that a reply makes, and may flag it.
        straight: Whether a reply whose calls may all run as they stand is checked here, and its
            calls go straight to the tools.
    """
    reach = as_reach(tools)
    check = Check(reach, approval=True)

    def body(state: State, scope: Scope) -> Steps[Update]:
        messages = state["messages"]
        question = newest_question(messages).id or ""
        if not source.is_ready(scope.context):
            yield source.prepare(scope.context)
        progress = progress_of(state, question)
        update: Update = {}
        closed: list[ToolMessage] = []
        if progress is None or state.get("status") or isinstance(messages[-1], HumanMessage):
            progress = begin(question, scope.context.cap)
            update = new_run(state, scope)
            state = {**state, "loaded": []}
            closed = yield from closed_calls(state, scope, reach)
        system = yield from prompt.fill(scope)
        recorded = [*messages, *closed]
        view = model_view(recorded)
        loaded = loaded_tools(state)
        names, offered = reach.names(loaded), reach.offered(scope.context, loaded)
        if progress["empty_replies"]:
            view.append(_nudge(recorded, names))
        asked = yield from ask(source, system, view, recorded, scope, offered=offered)
        step = progress["rounds"] + 1
        audit.model_call(scope, asked, step=step, messages=len(view) + 1, offered=offered)
        said: list[BaseMessage] = [*closed, asked.reply] if asked.reply else [*closed]
        progress_now = _progress(progress, asked)
        update |= {"messages": said, "progress": progress_now}
        if straight and progress_now["open_calls"]:
            transcript = [*messages, *said]
            update["calls"] = yield from check.sound(
                transcript, progress_now, scope.context, loaded
            )
        if end := _end(asked, progress, names):
            cost = usage_of([*messages, *said], question, source.name(scope.context), asked)
            update |= {**(judge(end) if judge else end), "usage": cost}
        return update

    return Node("call_model", body, context, reach.tools)


def new_run(state: State, scope: Scope) -> Update:
    """Reset what an earlier run of the thread left behind."""
    update: Update = {}
    if scope.context.user is not None and not state.get("owner"):
        update["owner"] = scope.context.user
    if state.get("calls"):
        update["calls"] = []
    if state.get("loaded"):
        update["loaded"] = []
    if state.get("status") is not None:
        update |= {field: None for field in OUTCOME if field in state}
    return update


def closed_calls(state: State, scope: Scope, reach: Reach) -> Steps[list[ToolMessage]]:
    """Answer the calls that an earlier run left open, each by how far it had come."""
    earlier = current(state)
    waits = earlier["to_approve"] if earlier else []
    begun = {call["id"]: call for call in state.get("calls") or [] if isinstance(call, dict)}
    if waits:  # while one of them waits, none of them has begun
        waits = [ident for ident in begun if ident is not None]
    ledger = Ledger(scope.store, scope.thread_id, scope.saver)

    def begins_in_ledger(call: ToolCall) -> bool:
        contract = reach.contract_of(call)
        return ledger.is_kept and contract is not None and contract.once

    closed = []
    for asked in unanswered(state["messages"]):
        # The ledger knows a call by what it came to, not by what the model wrote.
        call = begun.get(asked["id"], asked)
        entry = (yield from ledger.look_up(call)) if asked["id"] in begun else None
        if entry is not None:
            result = recorded_result(call, entry)
        elif asked["id"] in begun and asked["id"] not in waits and not begins_in_ledger(call):
            result = failed_result(call, INTERRUPTED, "interrupted")
        else:
            result = failed_result(call, SUPERSEDED, "interrupted")
        closed.append(reach.answer(call, result))
    return closed


def _nudge(messages: Sequence[BaseMessage], names: Sequence[str]) -> HumanMessage:
    """Say, in the view alone, why the model is asked again."""
    written = is_written_tool_call(answer_text(messages[-1]), names)
    return HumanMessage(WRITTEN_CALL if written else EMPTY_REPLY)


def _progress(progress: Progress, asked: Asked) -> Progress:
    """Count the reply as a round of the run: the last one, which ends it, does not matter."""
    reply = asked.reply
    open_calls = len(reply.tool_calls) + len(reply.invalid_tool_calls) if reply else 0
    return {
        **progress,
        "rounds": progress["rounds"] + 1,
        "calls": progress["calls"] + open_calls,
        "open_calls": open_calls,
        "to_approve": [],
        "approved": {},
        "empty_replies": 0 if open_calls else progress["empty_replies"] + 1,
    }


def _end(asked: Asked, progress: Progress, names: Sequence[str]) -> Ending | None:
    """Say how the run ends with this reply; None where it goes on."""
    reply = asked.reply
    if reply is None:
        return failed_end(asked)
    if reply.tool_calls or reply.invalid_tool_calls:
        return None
    if refusal := refusal_of(reply):
        return ending(None, "refused", refusal)
    text = answer_text(reply)
    written = is_written_tool_call(text, names)
    if text and not written:
        return ending(text, "answered", why_it_ended(reply))
    if not progress["empty_replies"]:
        return None
    said = "wrote a tool call as text" if written else "said nothing"
    return ending(None, "no_answer", f"the model {said}, and did so again when asked once more")


def failed_end(asked: Asked) -> Ending:
    """Say how a run ends whose model failed for good."""
    if asked.filtered:
        return ending(None, "refused", asked.failure)
    return ending(None, "no_answer", f"the model failed: {asked.failure}")


def refusal_of(reply: AIMessage) -> str | None:
    """Say that the model, or its server's filter, refused; None where it did not."""
    if refusal := reply.additional_kwargs.get("refusal"):
        return f"the model refused: {refusal}"
    if finish_reason(reply) == "content_filter" and not answer_text(reply):
        return "the model server's content filter refused"
    return None


def why_it_ended(reply: AIMessage) -> str:
    """Say why the run ended with this answer."""
    if finish_reason(reply) in {"length", "max_tokens", "MAX_TOKENS"}:
        return "the model answered, but its reply was cut at the model's token limit"
    return "the model answered"
