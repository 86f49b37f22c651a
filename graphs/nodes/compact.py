"""`compact`: summarizes the older turns when the window nears its limit."""

from uuid import uuid4

from langchain_core.messages import AIMessage

from graphs import audit
from graphs.model_source import ModelSource
from graphs.node import Node, Scope, Update
from graphs.nodes.count_tokens import WindowCounter, window
from graphs.react.context import CompactionContext, settings_of
from graphs.react.counting import Count
from graphs.react.summarizing import Summarizer, Summary
from graphs.react.summary import Compacted, compacted, window_of
from graphs.react.turns import turns_of
from graphs.state import State, begin, ending, progress_of
from graphs.transcript import COMPACTION, newest_question
from graphs.usage import spent_beside, usage_of
from graphs.waiting import Steps


def compact(
    source: ModelSource, counter: WindowCounter, *, context: type[CompactionContext]
) -> Node:
    """Make the node that compacts (seed "ReAct", Context compaction).

    It keeps true that
    * the transcript is not touched: a compaction is one more record in it, by which the view
      changes;
    * the newest turns are kept word for word, and turns go whole;
    * a summarizer that fails is asked once more; then the oldest half of the turns is dropped, and
      the log says that no summary was made; no error text comes into the window;
    * what is counted before and after is logged;
    * a window that is still over the threshold, or that holds nothing to take out, ends the run as
      `context_exhausted`, with the summary.

    Args:
        source: The model that summarizes.
        counter: Counts the request.
        context: The variant's settings.
    """
    summarizer = Summarizer(source, context)

    def body(state: State, scope: Scope) -> Steps[Update]:
        settings = settings_of(scope.context, CompactionContext)
        messages = state["messages"]
        question = newest_question(messages).id or ""
        done, turns = compacted(messages, question), turns_of(messages, question)
        before, here = window_of(state), turns[done.through :]
        tokens = before["tokens"] if before else 0
        update: Update = {"window": {**before, "exhausted": True} if before else None}
        over, spent = True, spent_beside(state)
        if len(here) > settings.kept_turns:
            summary = yield from summarizer.summarize(done, here, state, scope)
            done = Compacted(summary.text, done.through + summary.dropped)
            count = yield from counter.count(turns, done, state, scope, fresh=True)
            record = _record(summary, done, tokens, count)
            progress = progress_of(state, question) or begin(question, settings.cap)
            audit.compaction(scope, record, summary.failures, step=progress["rounds"])
            tokens, over = count.tokens, count.tokens >= settings.threshold
            full = window(settings, count, turns=len(turns), done=done, exhausted=over)
            update = {"messages": [record], "window": full}
            if summary.spent:
                spent += summary.spent
                update["spent"] = spent
        if over:
            recorded = [*messages, *update.get("messages", [])]
            cost = usage_of(recorded, question, source.name(settings), beside=spent)
            overflowed = before is not None and before["overflowed"] and "messages" not in update
            reason = _why(settings, tokens, alone=not turns, overflowed=overflowed)
            end = ending(None, "context_exhausted", reason)
            update |= {**end, "usage": cost, "summary": done.text or None}
        return update

    return Node("compact", body, context, source.reach.tools)


def _why(settings: CompactionContext, tokens: int, *, alone: bool, overflowed: bool) -> str:
    """Say in a sentence why no compaction helps."""
    end = "and nothing more can be taken out"
    if overflowed:
        what = "the prompt and the question alone are" if alone else "the kept turns are"
        return f"{what} longer than what the model takes, {end}"
    what = "the prompt and the question alone have" if alone else "the window has"
    return (
        f"{what} {tokens:,} of {settings.context_window:,} tokens, "
        f"over the threshold of {settings.threshold:,}, {end}"
    )


def _record(summary: Summary, done: Compacted, tokens: int, count: Count) -> AIMessage:
    """Write a compaction down as the one record it has: the summary, and what it stands for."""
    told = {
        "through": done.through,
        "dropped": summary.dropped,
        "made": summary.reply is not None,
        "tokens_before": tokens,
        "tokens_after": count.tokens,
        "counted_by": count.by,
    }
    reply = summary.reply or AIMessage("", id=str(uuid4()))
    changes = {"content": done.text, "tool_calls": [], "invalid_tool_calls": []}
    return reply.model_copy(update={**changes, "additional_kwargs": {COMPACTION: told}})
