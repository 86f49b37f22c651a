"""From a model's name to the model, once for each name and environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel

from graphs.models.capabilities import look_up
from graphs.models.errors import ModelError
from graphs.models.providers import canonical, is_known, near_miss, package_of
from tools.redact import redact
from tools.text import one_line, shorten

DEFAULT = "offline"
_HOW = "write 'offline', 'openai:<name>' or another 'provider:name'"
_URL_SETTINGS = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_HEADERS = ("OPENAI_ORG_ID", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID")
_OUR_PREFIXES = (
    *("OPENAI_", "RUNGS_OPENAI_", "RUNGS_MODEL_TIMEOUT"),
    *("LANGSMITH_", "HTTP_", "HTTPS_", "ALL_", "NO_"),
)

TIMEOUT_SETTING = "RUNGS_MODEL_TIMEOUT"
TIMEOUT = 120.0
"""Seconds without a byte from the server until a request counts as failed. A server that does not
stream sends its first byte when the whole reply is there: slow models need the most of it."""

MAX_TIMEOUT = 86_400.0


def shown(text: str) -> str:
    """Quote what a user typed, on one short line."""
    return repr(shorten(one_line(redact(text)), 80))


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
    if not spec:
        raise ModelError(f"no model is named: {_HOW}")
    if canonical(provider) == "offline":
        raise ModelError(f"unknown model {shown(spec)}: did you mean 'offline'?")
    if not separator or not provider or not name.strip():
        near = "" if separator or spec == "openai" else near_miss(spec)
        raise ModelError(f"unknown model {shown(spec)}: {near or _HOW}")
    if provider == "scripted":
        path = Path(name).expanduser()
        stamp = path.stat().st_mtime_ns if path.exists() else 0
        return _scripted(path, stamp)
    if provider == "openai":
        settings = {k: v for k, v in os.environ.items() if k.startswith(_OUR_PREFIXES)}
        return _openai(name, tuple(sorted(settings.items())))
    if not is_known(provider):
        raise ModelError(f"unknown provider {shown(provider)}: {near_miss(provider) or _HOW}")
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
    for header in _HEADERS:
        sendable(settings, header)
    options["timeout"] = _timeout(settings.get(TIMEOUT_SETTING, ""))
    if key := sendable(settings, "OPENAI_API_KEY"):
        options["api_key"] = key
    else:
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


def sendable(settings: Mapping[str, str], name: str) -> str:
    """Return a setting that is sent as an HTTP header, white space around it removed.

    Raises:
        ModelError: It holds what no header can hold; the value is never quoted.
    """
    value = settings.get(name, "").strip()
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise ModelError(
            f"{name} holds a blank, a line end or a character that no key has: set it again"
        )
    return value


def _timeout(text: str) -> float:
    try:
        seconds = float(text) if text.strip() else TIMEOUT
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MAX_TIMEOUT:
        raise ModelError(
            f"{TIMEOUT_SETTING} is {shown(text)}: give seconds, above 0 and at most {MAX_TIMEOUT:g}"
        )
    return seconds


@lru_cache(maxsize=16)
def _other(spec: str, provider: str, environment: tuple[tuple[str, str], ...]) -> BaseChatModel:
    del environment  # part of the key: a provider reads its settings from there
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise ModelError(
            f"{spec} needs the extra: pip install -e '.[providers]' {package_of(provider)}"
        ) from error
    try:
        model = init_chat_model(spec.partition(":")[2], model_provider=canonical(provider))
    except ImportError as error:
        raise ModelError(f"{spec} needs its package: pip install {package_of(provider)}") from error
    except Exception as error:  # each provider raises its own, for a missing key too
        reason = redact(" ".join(str(error).split()))[:300] or type(error).__name__
        raise ModelError(f"can't set up {spec}: {reason}") from error
    assert isinstance(model, BaseChatModel)  # noqa: S101 - configurable only when asked for
    return model
