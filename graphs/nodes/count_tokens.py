"""`count_tokens`: how full the window is before each model call."""

import asyncio
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from graphs.model_source import ModelSource
from graphs.node import Node, Scope, Update
from graphs.react.context import CompactionContext, settings_of
from graphs.react.counting import Count, TokenCounter, count
from graphs.react.prompt import ReactPrompt
from graphs.react.summary import Compacted, Window, compacted, view_of, window_of
from graphs.react.turns import Turn, turns_of
from graphs.react.views import messages_of
from graphs.state import State, progress_of
from graphs.transcript import COMPACTION, newest_question
from graphs.usage import spent_beside
from graphs.waiting import Steps, Wait


class WindowCounter:
    """Counts the request that a view of the run makes.

    Args:
        source: The model.
        prompt: The ReAct prompt.
        counter: The caller's own counter.

    Attributes:
        tools: What the prompt lists.
    """

    def __init__(
        self, source: ModelSource, prompt: ReactPrompt, counter: TokenCounter | None
    ) -> None:
        self._source, self._prompt, self._counter = source, prompt, counter
        self.tools = source.reach.tools

    def count(
        self, turns: Sequence[Turn], done: Compacted, state: State, scope: Scope, *, fresh: bool
    ) -> Steps[Count]:
        """Count the next request.

        Args:
            turns: The run's turns.
            done: Its newest compaction.
            state: The state.
            scope: The run.
            fresh: Whether the window was just compacted: then no earlier request is its beginning.
        """
        settings = settings_of(scope.context, CompactionContext)
        messages, question = state["messages"], newest_question(state["messages"])
        view = view_of(turns, done)
        most = settings.observation_limit
        system, opening = yield from self._prompt.fill(scope)
        sent = messages_of(view, opening, messages, question, most)
        if not self._source.is_ready(settings):
            yield self._source.prepare(settings)
        name = self._source.name(settings)
        answered = None if fresh else _answered(turns, done, sent)

        def counted() -> Count:
            return count([system, *sent], counter=self._counter, model=name, answered=answered)

        # Reading tiktoken's table, or a caller's counter, may block.
        counts: Count = yield Wait(counted, lambda: asyncio.to_thread(counted))
        return counts

    def with_less(
        self, turns: Sequence[Turn], done: Compacted, state: State, scope: Scope, *, most: int
    ) -> Steps[tuple[Compacted, Count]]:
        """Leave earlier exchanges of the thread out, the oldest first, until the window fits.

        Args:
            turns: The run's turns.
            done: Its newest compaction.
            state: The state.
            scope: The run.
            most: How many may be shown.

        Returns:
            The compaction with as many as the threshold leaves room for, and its count; with none,
            where even that is too much.
        """
        threshold = settings_of(scope.context, CompactionContext).threshold
        least, counts = 0, None
        while counts is None or least < most:
            shown = (least + most + 1) // 2
            fewer = done._replace(earlier=shown)
            found: Count = yield from self.count(turns, fewer, state, scope, fresh=True)
            if found.tokens < threshold or not shown:
                least, counts = shown, found
            else:
                most = shown - 1
        return done._replace(earlier=least), counts


def _answered(
    turns: Sequence[Turn], done: Compacted, sent: Sequence[BaseMessage]
) -> tuple[int, AIMessage] | None:
    """Return the newest reply where its request was the beginning of this one."""
    if len(turns) <= done.through or not isinstance(sent[-1], HumanMessage):
        return None
    newest = turns[-1].reply
    if len(sent) < 2 or str(sent[-2].text) != str(newest.text):  # noqa: PLR2004 - the reply, and what came since
        return None
    return 1, newest


def count_tokens(counter: WindowCounter, *, context: type[CompactionContext]) -> Node:
    """Make the node that counts.

    It keeps true that what is counted is the request that would be sent now, that the numbers by
    which the rules decide are recorded, and that a request which the model refused as too long
    counts as full, for that run alone.

    Args:
        counter: Counts the request.
        context: The variant's settings.
    """

    def body(state: State, scope: Scope) -> Steps[Update]:
        settings = settings_of(scope.context, CompactionContext)
        known, question = window_of(state), newest_question(state["messages"]).id or ""
        begins = progress_of(state, question) is None or state.get("status")
        if known is not None and known["overflowed"] and not begins:
            return {}  # the model itself has counted
        turns = turns_of(state["messages"], question)
        done = compacted(state["messages"], question)
        fresh = _is_fresh(state["messages"])
        count = yield from counter.count(turns, done, state, scope, fresh=fresh)
        update: Update = {"window": window(settings, count, turns=len(turns), done=done)}
        return {**update, "spent": []} if begins and spent_beside(state) else update

    return Node("count_tokens", body, context, counter.tools)


def window(
    settings: CompactionContext,
    count: Count,
    *,
    turns: int,
    done: Compacted,
    exhausted: bool = False,
) -> Window:
    """Write down how full the window is."""
    return Window(
        tokens=count.tokens,
        by=count.by,
        threshold=settings.threshold,
        ceiling=settings.ceiling,
        droppable=max(0, turns - done.through - settings.kept_turns),
        compacted=done.through > 0,
        exhausted=exhausted,
        overflowed=False,
    )


def _is_fresh(messages: Sequence[BaseMessage]) -> bool:
    """Tell whether the newest reply came before the newest compaction."""
    newest = next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)
    return newest is not None and COMPACTION in newest.additional_kwargs
