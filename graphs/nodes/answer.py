"""`answer`: the last call of a pattern whose end is fixed in advance, with the tools off."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from graphs import audit
from graphs.asking import ask
from graphs.context import Context
from graphs.incomplete import judged
from graphs.model_source import ModelSource
from graphs.models.quirks import answer_text, is_written_tool_call
from graphs.node import Node, Scope, Update
from graphs.nodes.call_model import refusal_of, why_it_ended
from graphs.state import Ending, Progress, State, begin, ending, progress_of
from graphs.system_prompt import SystemPrompt
from graphs.transcript import failed_result, model_view, newest_question, reply_calls, unanswered
from graphs.usage import usage_of
from graphs.waiting import Steps
from tools import Contract

NOT_RUN = "not executed: no further tool call can be made for this question"
EMPTY_REPLY = "Your last reply was empty. Answer the question in plain language."


def answer(
    source: ModelSource,
    prompt: SystemPrompt,
    *,
    tools: Sequence[Contract],
    context: type[Context],
    after: str,
    name: str = "answer",
) -> Node:
    """Make the node that asks for the answer once the pattern has no tool call left.

    `finalize` ends a loop that was cut short at a cap; here the pattern itself ends. It keeps true
    that
    * the request holds no tools, and a call in the reply is answered, not run;
    * an answer is `answered`; one that calls itself incomplete, or that asks for another call, is
      `tool_limit`, and the reason says that the pattern was not enough;
    * an empty reply is asked for once more, and then ends the run with `no_answer`.

    Args:
        source: The model.
        prompt: The system prompt.
        tools: The tools of the steps before, whose names may be written as text.
        context: The variant's settings.
        after: What comes before the answer, in the singular: "one tool round".
        name: The node's name.
    """

    def body(state: State, scope: Scope) -> Steps[Update]:
        messages = state["messages"]
        question = newest_question(messages).id or ""
        if not source.is_ready(scope.context):
            yield source.prepare(scope.context)
        progress = progress_of(state, question) or begin(question, scope.context.cap)
        system = yield from prompt.fill(scope)
        closed = [source.reach.answer(call, _not_run(call)) for call in unanswered(messages)]
        recorded = [*messages, *closed]
        view = model_view(recorded)
        if progress["empty_replies"]:
            view.append(HumanMessage(EMPTY_REPLY))
        asked = yield from ask(source, system, view, recorded, scope, offered=())
        audit.model_call(
            scope, asked, step=progress["rounds"] + 1, messages=len(view) + 1, offered=()
        )
        said: list[BaseMessage] = [*closed]
        if asked.reply is None:
            end: Ending | None = ending(None, "no_answer", f"the model failed: {asked.failure}")
        else:
            off = [source.reach.answer(call, _not_run(call)) for call in reply_calls(asked.reply)]
            said += [asked.reply, *off]
            end = _end(asked.reply, progress, [tool.name for tool in tools], after)
        update: Update = {"messages": said, "progress": _told(progress)}
        if end is not None:
            cost = usage_of([*messages, *said], question, source.name(scope.context), asked)
            update |= {**end, "usage": cost}
        return update

    return Node(name, body, context, source.reach.tools)


def _not_run(call: ToolCall) -> ToolMessage:
    return failed_result(call, NOT_RUN, "limit_reached")


def _told(progress: Progress) -> Progress:
    return {**progress, "open_calls": 0, "empty_replies": progress["empty_replies"] + 1}


def _end(reply: AIMessage, progress: Progress, names: Sequence[str], after: str) -> Ending | None:
    """Say how the run ends with this reply; None where the model is asked once more."""
    text = answer_text(reply)
    if refusal := refusal_of(reply):
        return ending(None, "refused", refusal)
    if calls := reply_calls(reply):
        wanted = ", ".join(dict.fromkeys(call["name"] for call in calls))
        reason = f"{after} was not enough: the model asked for {wanted} once more"
        return ending(text or None, "tool_limit", reason)
    if is_written_tool_call(text, names):
        reason = f"{after} was not enough: the model wrote another tool call as text"
        return ending(None, "tool_limit", reason)
    if text:
        return judged(ending(text, "answered", why_it_ended(reply)), after)
    if not progress["empty_replies"]:
        return None
    reason = "the model said nothing, and did so again when asked once more"
    return ending(None, "no_answer", reason)
