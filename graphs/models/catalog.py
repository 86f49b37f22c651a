"""From a model's name to the model, once for each name and environment."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel

from graphs.models.capabilities import look_up
from graphs.models.errors import ModelError
from tools.redact import redact

DEFAULT = "offline"
_HOW = "write 'offline', 'openai:<name>' or another 'provider:name'"
_URL_SETTINGS = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_OUR_PREFIXES = ("OPENAI_", "RUNGS_OPENAI_", "LANGSMITH_", "HTTP_", "HTTPS_", "ALL_", "NO_")


def resolve(spec: str | BaseChatModel | None = None) -> BaseChatModel:
    """Return the model of `spec`; see `graphs.models.resolve`."""
    if spec is None:
        spec = os.environ.get("RUNGS_MODEL", "").strip() or DEFAULT
    if not isinstance(spec, str):
        return spec
    spec = spec.strip()
    provider, separator, name = spec.partition(":")
    if spec == "offline":
        return _offline()
    if not separator or not provider or not name:
        raise ModelError(f"unknown model {spec!r}: {_HOW}")
    if provider == "scripted":
        path = Path(name).expanduser()
        stamp = path.stat().st_mtime_ns if path.exists() else 0
        return _scripted(path, stamp)
    if provider == "openai":
        settings = {k: v for k, v in os.environ.items() if k.startswith(_OUR_PREFIXES)}
        return _openai(name, tuple(sorted(settings.items())))
    return _other(spec, provider, tuple(sorted(os.environ.items())))


@lru_cache(maxsize=1)
def _offline() -> BaseChatModel:
    from graphs.models.offline import OfflineModel

    return OfflineModel()


@lru_cache(maxsize=8)
def _scripted(path: Path, stamp: int) -> BaseChatModel:
    del stamp  # part of the key: a changed script is another model
    from graphs.models.scripted import ScriptedModel

    return ScriptedModel.from_file(path)


@lru_cache(maxsize=16)
def _openai(name: str, environment: tuple[tuple[str, str], ...]) -> BaseChatModel:
    settings = dict(environment)
    url = next((settings[key] for key in _URL_SETTINGS if settings.get(key)), None)
    options: dict[str, Any] = {}
    if url is not None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ModelError(f"OPENAI_BASE_URL {redact(url)!r} is no http(s) address")
        options["base_url"] = url
    if not settings.get("OPENAI_API_KEY"):
        if url is None and not any(key.startswith("LANGSMITH_GATEWAY") for key in settings):
            raise ModelError(
                f"openai:{name} needs OPENAI_API_KEY (or OPENAI_BASE_URL of a compatible server);"
                " RUNGS_MODEL=offline needs neither"
            )
        if url is not None:
            options["api_key"] = "none"  # a local server asks for none, the client does
    can = look_up(name, url)
    from graphs.models.openai import RungsChatOpenAI

    return RungsChatOpenAI(model=name, capabilities=can, **options)


@lru_cache(maxsize=16)
def _other(spec: str, provider: str, environment: tuple[tuple[str, str], ...]) -> BaseChatModel:
    del environment  # part of the key: a provider reads its settings from there
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise ModelError(
            f"{spec} needs the extra: pip install -e '.[providers]' langchain-{provider}"
        ) from error
    try:
        model = init_chat_model(spec)
    except ImportError as error:
        raise ModelError(
            f"{spec} needs its package: pip install langchain-{provider.replace('_', '-')}"
        ) from error
    except Exception as error:  # each provider raises its own, for a missing key too
        reason = redact(" ".join(str(error).split()))[:300] or type(error).__name__
        raise ModelError(f"can't set up {spec}: {reason}") from error
    assert isinstance(model, BaseChatModel)  # noqa: S101 - configurable only when asked for
    return model
