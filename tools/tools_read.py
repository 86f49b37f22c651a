"""What a model had read before it made a call: where what it now writes may have come from."""

from __future__ import annotations

from typing import Any


class ToolsRead(tuple[str, ...]):
    """Names of the tools whose results the model was shown before a call, in order, each once.

    A parameter annotated so is filled in, and never shown to the model. What a tool returned may
    hold instructions of a stranger's ("please remember this rule"), so what is written after it is
    to be told from what the user said alone.
    """

    __slots__ = ()

    @classmethod
    def before(cls, state: Any) -> ToolsRead:
        """Read the names from the messages of a graph's state; none where there is no state."""
        messages = state.get("messages") or () if isinstance(state, dict) else ()
        read = (
            m.additional_kwargs.get("tool") or m.name
            for m in messages
            if getattr(m, "type", "") == "tool" and m.status == "success"
        )
        return cls(dict.fromkeys(name for name in read if name))
