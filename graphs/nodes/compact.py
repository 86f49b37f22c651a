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
from graphs.react.views import earlier_of
from graphs.state import State, begin, ending, progress_of
from graphs.transcript import COMPACTION, newest_question
from graphs.usage import spent_beside, usage_of
from graphs.waiting import Steps
from tools import redact


def compact(
    source: ModelSource, counter: WindowCounter, *, context: type[CompactionContext]
) -> Node:
    """Make the node that compacts (seed "ReAct", Context compaction).

    It keeps true that
    * the transcript is not touched: a compaction is one more record in it, by which the view
      changes;
    * the newest turns are kept word for word, and turns go whole;
    * a summarizer that fails is asked once more; then the oldest half of the turns is dropped, and
      the log says that no summary was made, and why; no error text comes into the window;
    * where that is not enough, earlier exchanges of the thread are left out, the oldest first;
    * what is counted before and after, and what was left out, is logged;
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
        refused, over, spent = (
            before is not None and before["overflowed"],
            True,
            spent_beside(state),
        )
        summary, count, left_out = None, None, 0
        if len(here) > settings.kept_turns:
            summary = yield from summarizer.summarize(done, here, state, scope)
            done = done._replace(text=summary.text, through=done.through + summary.dropped)
            count = yield from counter.count(turns, done, state, scope, fresh=True)
            over, refused = count.tokens >= settings.threshold, False
            spent += summary.spent
        shown = len(earlier_of(messages, question, done.earlier))
        if over and shown:
            most = shown // 2 if refused else shown - 1
            done, count = yield from counter.with_less(turns, done, state, scope, most=most)
            left_out, refused = shown - (done.earlier or 0), False
            over = count.tokens >= (settings.threshold if summary else settings.ceiling)
        if count is None:
            update: Update = {"window": {**before, "exhausted": True} if before else None}
        else:
            record = _record(summary, done, tokens, count, left_out)
            progress = progress_of(state, question) or begin(question, settings.cap)
            audit.compaction(scope, record, step=progress["rounds"])
            tokens = count.tokens
            full = window(settings, count, turns=len(turns), done=done, exhausted=over)
            update = {"messages": [record], "window": full}
            if summary is not None and summary.spent:
                update["spent"] = spent
        if over:
            recorded = [*messages, *update.get("messages", [])]
            cost = usage_of(recorded, question, source.name(settings), beside=spent)
            reason = _why(settings, tokens, alone=not turns, overflowed=refused)
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


def _record(
    summary: Summary | None, done: Compacted, tokens: int, count: Count, left_out: int
) -> AIMessage:
    """Write a compaction down as the one record it has: the summary, and what it stands for."""
    failures = summary.failures if summary else ()
    told = {
        "through": done.through,
        "dropped": summary.dropped if summary else 0,
        "made": summary is not None and summary.reply is not None,
        "failure": redact("; ".join(dict.fromkeys(failures))) or None,
        "earlier": done.earlier,
        "left_out": left_out,
        "tokens_before": tokens,
        "tokens_after": count.tokens,
        "counted_by": count.by,
    }
    reply = (summary.reply if summary else None) or AIMessage("", id=str(uuid4()))
    changes = {"content": done.text, "tool_calls": [], "invalid_tool_calls": []}
    return reply.model_copy(update={**changes, "additional_kwargs": {COMPACTION: told}})
