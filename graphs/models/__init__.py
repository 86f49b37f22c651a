"""Chat models by name: offline, scripted, OpenAI-compatible servers, and every other provider.

Heavy packages are imported when a model is first resolved, never before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphs.models.errors import ModelError, ModelReplyError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from graphs.models.offline import OfflineModel
    from graphs.models.replies import Request
    from graphs.models.scripted import ScriptedModel, ScriptExhausted

__all__ = [
    "ModelError",
    "ModelReplyError",
    "OfflineModel",
    "Request",
    "ScriptExhausted",
    "ScriptedModel",
    "resolve",
]

_LAZY = {
    "OfflineModel": "graphs.models.offline",
    "Request": "graphs.models.replies",
    "ScriptExhausted": "graphs.models.scripted",
    "ScriptedModel": "graphs.models.scripted",
}


def __getattr__(name: str) -> Any:
    """Import the model classes when they are first asked for."""
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def resolve(spec: str | BaseChatModel | None = None) -> BaseChatModel:
    """Return the chat model that `spec` names.

    Args:
        spec: a model (returned as it is), `"offline"`, `"openai:<name>"`, `"scripted:<path.json>"`
            or any other `"provider:name"`; `None` takes `RUNGS_MODEL`, else `"offline"`.

    Raises:
        ModelError: an unknown name, a missing package or a missing key, in one line.
    """
    from graphs.models.catalog import resolve as _resolve

    return _resolve(spec)
