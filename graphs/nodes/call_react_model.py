"""`call_model` of the ReAct variants: the model is sent a view, and its reply is read as text."""

from collections.abc import Sequence
from dataclasses import replace

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from graphs import audit
from graphs.asking import Asked, ask
from graphs.model_source import ModelSource
from graphs.node import Node, Scope, Update
from graphs.nodes.call_model import closed_calls, failed_end, new_run
from graphs.reach import may_run
from graphs.react.context import ReactContext, settings_of
from graphs.react.prompt import ReactPrompt
from graphs.react.replies import Taken, take, unless_stuck, without_secrets
from graphs.react.said import Said
from graphs.react.turns import turns_of
from graphs.react.views import Recall, messages_of
from graphs.state import Ending, Progress, State, begin, ending, progress_of
from graphs.transcript import newest_question
from graphs.usage import spent_beside, usage_of
from graphs.waiting import Steps
from tools import Contract
from tools.toolset import tool_set

STOP = "Observation:"
"""Where the model is to stop, so that it writes no Observation itself (seed "ReAct", step 2)."""


def call_react_model(
    source: ModelSource,
    prompt: ReactPrompt,
    recall: Recall,
    *,
    tools: Sequence[Contract],
    context: type[ReactContext],
) -> Node:
    """Make the node that asks the model for its next Thought and Action.

    It keeps true that
    * a new human message starts a new run, as in `call_model`;
    * only what the model itself wrote is ever parsed, and what follows its action, or stands behind
      an Observation of its own, is not recorded;
    * a turn is recorded once: the reply's text and the call derived from it;
    * a reply that names no action that there is gets an Observation that lists those there are and
      shows how one is written; three such replies in a row end the run with `no_answer`;
    * the same action with the same input so many times in a row ends the run as `stuck`, the last
      one not run; it is so for an action that there is not, and where inputs hold secrets.

    Args:
        source: The model; it is shown no tools but those the prompt describes.
        prompt: The ReAct prompt.
        recall: What of the run the model is shown.
        tools: The tools that exist.
        context: The variant's settings.
    """
    listed = tool_set(tools)

    def body(state: State, scope: Scope) -> Steps[Update]:
        settings = settings_of(scope.context, ReactContext)
        messages = state["messages"]
        question = newest_question(messages)
        if not source.is_ready(settings):
            yield source.prepare(settings)
        progress, closed, update = yield from started(state, scope, question.id or "")
        turns = turns_of(messages, question.id or "")
        view = yield from recall.view(turns, state, scope)
        system, opening = yield from prompt.fill(scope)
        sent = messages_of(view, opening, messages, question, settings.observation_limit)
        recorded = [*messages, *closed]
        asked = yield from ask(
            source, system, sent, recorded, scope, offered=(), stop=[STOP], cut=Said
        )
        allowed = [tool for tool in listed if may_run(tool, settings)]
        taken = None
        if asked.reply is not None:
            real, bad = asked.real or asked.reply, progress["empty_replies"]
            taken = yield from without_secrets(take(real, listed, allowed, bad=bad))
            taken = unless_stuck(taken, turns, settings.stuck_after)
            asked = replace(asked, reply=taken.reply)
        step, names = progress["rounds"] + 1, [tool.name for tool in allowed]
        audit.model_call(scope, asked, step=step, messages=len(sent) + 1, offered=names)
        if taken is not None and taken.result is not None:
            audit.tool_call(scope, taken.call, taken.result, step=step)
        said: list[BaseMessage] = [*closed, *_said(taken)]
        update |= {"messages": said, "progress": _counted(progress, taken)}
        shorter = recall.too_long(state, asked) if asked.overflow else None
        if shorter is not None:
            return {**update, **shorter}
        end = taken.end if taken is not None else _no_reply(asked)
        if end is not None:
            name, beside = source.name(settings), spent_beside(state)
            cost = usage_of([*messages, *said], question.id or "", name, asked, beside=beside)
            update |= {**end, "usage": cost, **(yield from recall.told(state, scope))}
        return update

    def started(
        state: State, scope: Scope, question: str
    ) -> Steps[tuple[Progress, list[ToolMessage], Update]]:
        """Return how far the run is; a new one begins, and what the last one left is closed."""
        progress, newest = progress_of(state, question), state["messages"][-1]
        if progress and not state.get("status") and not isinstance(newest, HumanMessage):
            return progress, [], {}
        closed = yield from closed_calls(state, scope, source.reach)
        update = {**new_run(state, scope), **(yield from recall.begin(state, scope))}
        return begin(question, scope.context.cap), closed, update

    return Node("call_model", body, context, listed)


def _no_reply(asked: Asked) -> Ending:
    """Say how a run ends whose model gave no reply: it failed, or the request was too long."""
    if asked.overflow:
        reason = f"the request was longer than the model's context: {asked.failure}"
        return ending(None, "context_exhausted", reason)
    return failed_end(asked)


def _said(taken: Taken | None) -> list[BaseMessage]:
    if taken is None:
        return []
    return [taken.reply] if taken.result is None else [taken.reply, taken.result]


def _counted(progress: Progress, taken: Taken | None) -> Progress:
    """Count the reply as a turn; bad ones in a row are counted as empty replies are elsewhere."""
    goes_on = taken is not None and taken.result is None and taken.end is None
    return {
        **progress,
        "rounds": progress["rounds"] + 1,
        "calls": progress["calls"] + goes_on,
        "open_calls": int(goes_on),
        "to_approve": [],
        "approved": {},
        "empty_replies": progress["empty_replies"] + 1 if taken and taken.bad else 0,
    }
