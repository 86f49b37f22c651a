"""Which system prompt a reply was given, kept once for all replies that were given it.

A reply's record names the prompt by a digest, and the store holds its text under it, without the
user's notes: those are the user's to delete.
"""

import hashlib
from collections.abc import Mapping, MutableMapping
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.messages import AIMessage, SystemMessage
from langgraph.store.base import BaseStore

from graphs.node import Scope
from graphs.waiting import Steps, Wait

NAMESPACE = ("prompts",)
KEY = "prompt"
"""Under which a reply's `response_metadata` has the digest."""

NOTES = "(the user's notes, as they were then)"
"""What stands for them in the kept text."""

_kept: MutableMapping[BaseStore, set[str]] = WeakKeyDictionary()


@lru_cache(maxsize=64)
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def system_message(text: str, shown: str | None = None) -> SystemMessage:
    """Make a system prompt's message; its id names it.

    Args:
        text: What the model is sent.
        shown: The same with `NOTES` in the place of the user's notes; None: there are none in it.
    """
    return SystemMessage(text, id=_digest(text if shown is None else shown))


def keep(message: SystemMessage, shown: str, scope: Scope) -> Steps[None]:
    """Keep the text of a prompt, where that was not done through this store before."""
    store, digest = scope.store, message.id
    if store is None or digest is None or digest in (kept := _kept.setdefault(store, set())):
        return
    value = {"text": shown}
    yield Wait(
        lambda: store.put(NAMESPACE, digest, value), lambda: store.aput(NAMESPACE, digest, value)
    )
    kept.add(digest)


def name_prompt(reply: AIMessage, system: Any) -> None:
    """Write down which prompt a reply was given."""
    if getattr(system, "id", None):
        reply.response_metadata[KEY] = system.id


def prompt_sent(reply: AIMessage, store: BaseStore) -> str | None:
    """Return the system prompt that a reply was given; None where it was not kept."""
    digest = reply.response_metadata.get(KEY)
    item = store.get(NAMESPACE, digest) if isinstance(digest, str) else None
    value: Mapping[str, Any] = item.value if item else {}
    return value.get("text")
