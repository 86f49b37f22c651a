"""Results of read-only tools, kept for a while in the graph's store.

Opt-in by tool (`cache_seconds`), keyed by the tool as it is now, the arguments it ran with, and the
user. Errors and timeouts are never kept. A call that changes state empties what is kept for its
user, so that nothing read before it is shown after it.
"""

import hashlib
import json
import time
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langgraph.store.base import BaseStore

from graphs.waiting import Steps, Wait
from tools import Contract
from tools.notes import user_label

_MANY = 1000


class ResultsCache:
    """The kept results of one user; without a store it keeps nothing.

    Args:
        store: Where they are kept.
        user: Whose they are.
    """

    def __init__(self, store: BaseStore | None, user: str | None) -> None:
        self._store = store
        self._namespace = ("results", user_label(user) if user else "nobody")

    def get(self, contract: Contract, call: ToolCall) -> Steps[str | None]:
        """Return the kept result of an equal call, or None."""
        store = self._store
        if store is None or not _cacheable(contract):
            return None
        where, key = self._namespace, _key(contract, call["args"])
        item = yield Wait(lambda: store.get(where, key), lambda: store.aget(where, key))
        if item is None or item.value["until"] < time.time():
            return None
        return str(item.value["content"])

    def put(self, contract: Contract, call: ToolCall, result: ToolMessage) -> Steps[None]:
        """Keep a successful result, or empty the cache where the call changed state."""
        store, where = self._store, self._namespace
        if store is None:
            return
        if contract.effect == "state_changing":
            yield from self._clear()
        elif _cacheable(contract) and result.status == "success":
            key = _key(contract, call["args"])
            value = {"content": result.text, "until": time.time() + (contract.cache_seconds or 0)}
            yield Wait(lambda: store.put(where, key, value), lambda: store.aput(where, key, value))

    def _clear(self) -> Steps[None]:
        store, where = self._store, self._namespace
        if store is None:
            return
        kept = yield Wait(
            lambda: store.search(where, limit=_MANY), lambda: store.asearch(where, limit=_MANY)
        )
        for item in kept:
            key = item.key
            yield Wait(
                lambda key=key: store.delete(where, key),  # type: ignore[misc]
                lambda key=key: store.adelete(where, key),  # type: ignore[misc]
            )


def _cacheable(contract: Contract) -> bool:
    return contract.effect == "read_only" and bool(contract.cache_seconds)


def _key(contract: Contract, arguments: dict[str, Any]) -> str:
    canonical = json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(f"{contract.fingerprint}\n{canonical}".encode()).hexdigest()
