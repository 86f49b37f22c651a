"""The settings of the ReAct variants."""

import math
from typing import TypeVar

from pydantic import Field

from graphs.context import Context

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

    max_turns: int = Field(
        default=10,
        strict=True,
        ge=1,
        le=1000,
        description="Turns for one question before the last call.",
    )
    observation_limit: int = Field(
        default=2000,
        strict=True,
        ge=100,
        le=1_000_000,
        description="Characters of one Observation that the model is shown.",
    )
    stuck_after: int = Field(
        default=3,
        strict=True,
        ge=2,
        le=1000,
        description="The same action in a row that ends the run as stuck.",
    )

    @property
    def cap(self) -> int:
        """The cap on turns."""
        return self.max_turns


class NotesContext(ReactContext):
    """Settings of the variant that keeps notes."""

    max_turns: int = Field(
        default=40,
        strict=True,
        ge=1,
        le=1000,
        description="Turns for one question before the run stops early, with its notes.",
    )
    kept_turns: int = Field(
        default=8,
        strict=True,
        ge=1,
        le=1000,
        description="The newest turns that the model is shown.",
    )
    notes_limit: int = Field(
        default=4000,
        strict=True,
        ge=10,
        le=1_000_000,
        description="Characters of the notes file; a longer text is refused.",
    )


class CompactionContext(ReactContext):
    """Settings of the variant that compacts its history."""

    max_turns: int = Field(
        default=60,
        strict=True,
        ge=1,
        le=10_000,
        description="Turns for one question before the last call, those before a summary included.",
    )
    context_window: int = Field(
        default=200_000,
        strict=True,
        ge=1,
        le=100_000_000,
        description="Tokens that the model can be sent.",
    )
    compact_at: float = Field(
        default=0.75,
        gt=0,
        le=1,
        description="The fraction of the window from which on the history is summarized.",
    )
    kept_turns: int = Field(
        default=3,
        strict=True,
        ge=1,
        le=1000,
        description="The newest turns that a summary leaves as they are.",
    )

    @property
    def threshold(self) -> int:
        """Tokens from which on the history is summarized."""
        return max(1, math.ceil(self.context_window * self.compact_at))
