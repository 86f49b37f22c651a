"""The summarizer: asked once, asked once more, and else half of the turns go without a summary."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, HumanMessage

from graphs.asking import ask
from graphs.model_source import ModelSource
from graphs.models.quirks import answer_text
from graphs.node import Scope
from graphs.prompt_of_run import PromptOfRun
from graphs.react.context import CompactionContext, settings_of
from graphs.react.keywords import quoted
from graphs.react.prompt_text import PROGRESS, PROGRESS_PLACES, SUMMARIZER
from graphs.react.summary import Compacted
from graphs.react.summary_parts import parts_of
from graphs.react.turns import Turn
from graphs.react.views import observation
from graphs.sent_prompts import keep, system_message
from graphs.state import State
from graphs.transcript import newest_question
from graphs.usage import Spent, spent_on
from graphs.waiting import Steps
from tools import redact

TRIES = 2
"""Calls of the summarizer for one compaction (seed "ReAct", Context compaction)."""

SHORT = 200
"""Characters that a summary may always have, however little it stands for."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of asking for a summary.

    Attributes:
        reply: The summarizer's reply; None where no try gave a summary.
        text: What stands for the turns from now on.
        dropped: How many turns it stands for.
        failures: Why a try gave none.
        spent: What those tries cost.
    """

    reply: AIMessage | None
    text: str
    dropped: int
    failures: tuple[str, ...] = ()
    spent: tuple[Spent, ...] = ()


class Summarizer:
    """Asks the run's model for a summary.

    Args:
        source: The model.
        context: The variant's settings, of which some may give other prompts.

    Raises:
        TemplateError: A prompt is wrong.
    """

    def __init__(self, source: ModelSource, context: type[CompactionContext]) -> None:
        self._source = source
        self._system = PromptOfRun(SUMMARIZER, context, names=())
        self._history = PromptOfRun(PROGRESS, context, names=PROGRESS_PLACES)

    def summarize(
        self, done: Compacted, turns: Sequence[Turn], state: State, scope: Scope
    ) -> Steps[Summary]:
        """Summarize all but the kept turns of a window.

        A summary that is empty, or longer than what it stands for, counts as failed. After two
        failures the oldest half of the turns is dropped instead.

        Args:
            done: What was compacted before.
            turns: The turns of the window.
            state: The state.
            scope: The run.
        """
        settings = settings_of(scope.context, CompactionContext)
        kept, most = settings.kept_turns, settings.observation_limit
        old = turns[: len(turns) - kept]
        new = "\n".join(written(turn, most) for turn in old)
        replaced = f"{done.text}\n{new}"
        question = str(newest_question(state["messages"]).text)
        told, shown = (yield from self._system.now(scope)), (yield from self._history.now(scope))
        history = shown.render(
            question=question,
            progress=quoted(done.text) or "(nothing yet)",
            transcript="\n".join(quoted(written(turn, most)) for turn in old),
        )
        system, view = system_message(told.text), [HumanMessage(history)]
        yield from keep(system, told.text, scope)
        failures: list[str] = []
        spent: list[Spent] = []
        left = TRIES
        while left > 0:
            asked = yield from ask(
                self._source, system, view, state["messages"], scope, offered=(), attempts=left
            )
            left -= asked.attempts
            text = redact(answer_text(asked.reply)) if asked.reply else ""
            why = asked.failure or _why_not(parts_of(text).said, replaced)
            if asked.reply is not None and not why:
                text = parts_of(done.text).followed_by(text, new).text
                return Summary(asked.reply, text, len(old), tuple(failures), tuple(spent))
            failures.append(why)
            spent.append(spent_on(asked))
        dropped = max(1, len(turns) // 2)
        text = _without_summary(done, turns[:dropped], most)
        return Summary(None, text, dropped, tuple(failures), tuple(spent))


def written(turn: Turn, most: int) -> str:
    """Write a turn as it stands in the transcript."""
    said = str(turn.reply.text)
    shown = f"Observation: {observation(turn, most)}"
    return f"{said}\n{shown}" if said.strip() else shown


def _why_not(text: str, replaced: str) -> str:
    if not text:
        return "the summary was empty"
    if len(text) > max(len(replaced), SHORT):
        return f"the summary was longer than what it stands for ({len(text):,} characters)"
    return ""


def _without_summary(done: Compacted, dropped: Sequence[Turn], most: int) -> str:
    """Say that turns are gone, and keep what no other word can stand for."""
    earlier, gone = parts_of(done.text), "\n".join(written(turn, most) for turn in dropped)
    return earlier.followed_by(earlier.said, gone, len(dropped)).text
