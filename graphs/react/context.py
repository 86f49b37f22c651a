"""The settings of the ReAct variants."""

import math
from typing import TypeVar

from pydantic import Field

from graphs.context import Context, whole_number
from graphs.prompt_settings import prompt_setting
from graphs.react.prompt_text import (
    NOTES,
    PLACES,
    PROGRESS,
    PROGRESS_PLACES,
    REACT,
    SUMMARIZER,
    cut,
)

Settings = TypeVar("Settings", bound="ReactContext")


def settings_of(context: Context, kind: type[Settings]) -> Settings:
    """Return a run's settings as those of its variant, which they are.

    Raises:
        TypeError: A node was wired into a variant with other settings.
    """
    if not isinstance(context, kind):
        raise TypeError(f"the settings are a {type(context).__name__}, not a {kind.__name__}")
    return context


class ReactContext(Context):
    """Settings that the three variants share."""

    max_turns: int = whole_number(10, "Turns for one question before the last call.")
    observation_limit: int = whole_number(
        2000, "Characters of one Observation that the model is shown.", least=100, most=1_000_000
    )
    stuck_after: int = whole_number(
        3, "The same action in a row that ends the run as stuck.", least=2
    )
    react_prompt: str = prompt_setting(
        REACT,
        "Format, actions and rules, and behind them the question.",
        nodes=("call_model", "finalize"),
        names=PLACES,
        check=cut,
    )
    earlier_notes_prompt: str = prompt_setting(
        NOTES,
        "What stands below the rules where the user has notes.",
        nodes=("call_model", "finalize"),
        names={"memory_notes"},
    )

    @property
    def cap(self) -> int:
        """The cap on turns."""
        return self.max_turns


class NotesContext(ReactContext):
    """Settings of the variant that keeps notes."""

    max_turns: int = whole_number(
        40, "Turns for one question before the run stops early, with its notes."
    )
    kept_turns: int = whole_number(8, "The newest turns that the model is shown.")
    notes_limit: int = whole_number(
        4000, "Characters of the notes file; a longer text is refused.", least=10, most=1_000_000
    )
    react_prompt: str = prompt_setting(
        REACT,
        "Format, actions and rules, and behind them the question.",
        nodes=("call_model",),
        names=PLACES,
        check=cut,
    )
    earlier_notes_prompt: str = prompt_setting(
        NOTES,
        "What stands below the rules where the user has notes.",
        nodes=("call_model",),
        names={"memory_notes"},
    )


class CompactionContext(ReactContext):
    """Settings of the variant that compacts its history."""

    max_turns: int = whole_number(
        60,
        "Turns for one question before the last call, those before a summary included.",
        most=10_000,
    )
    context_window: int = whole_number(
        200_000, "Tokens that the model can be sent.", most=100_000_000
    )
    compact_at: float = Field(
        default=0.75,
        gt=0,
        le=1,
        description="The fraction of the window from which on the history is summarized.",
    )
    kept_turns: int = whole_number(3, "The newest turns that a summary leaves as they are.")
    summarizer_prompt: str = prompt_setting(
        SUMMARIZER, "What the summarizer is told first.", nodes=("compact",), names=()
    )
    progress_prompt: str = prompt_setting(
        PROGRESS,
        "How the summarizer is shown what it summarizes.",
        nodes=("compact",),
        names=PROGRESS_PLACES,
    )

    @property
    def threshold(self) -> int:
        """Tokens from which on the history is summarized."""
        return max(1, math.ceil(self.context_window * self.compact_at))

    @property
    def ceiling(self) -> int:
        """Tokens from which on no turn is waited for any more, half-way to the window's end."""
        return self.threshold + (self.context_window - self.threshold) // 2
