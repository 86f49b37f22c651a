"""Results of read-only tools, kept for a while in the graph's store.

Opt-in by tool (`cache_seconds`), keyed by the tool as it is now, the arguments it ran with, the
user, and the e-mail addresses that the run may show: what one run was shown of a result may hide
too much from another, or too little. Errors and timeouts are never kept, nor results of calls with
secret arguments. A call that changes state empties what is kept for its user, so that nothing read
before it is shown after it.
"""

import hashlib
import json
import time
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langgraph.store.base import BaseStore, PutOp

from graphs.calls import sealed
from graphs.waiting import Steps, Wait
from tools import Contract
from tools.notes import user_label
from tools.redact import current_filter

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
        """Return the kept result of an equal call, or None; redact it: rules may be new since."""
        store = self._store
        if store is None or not _cacheable(contract) or sealed(call):
            return None
        where, key = self._namespace, _key(contract, call["args"])
        item = yield Wait(lambda: store.get(where, key), lambda: store.aget(where, key))
        if item is None or item.value["until"] < time.time():
            return None
        return str(item.value["content"])

    def put(self, contract: Contract, call: ToolCall, result: ToolMessage) -> Steps[None]:
        """Keep a successful result of a tool that asks for it."""
        store, where = self._store, self._namespace
        if store is None or not _cacheable(contract) or sealed(call):
            return
        if result.status != "success":
            return
        key = _key(contract, call["args"])
        value = {"content": result.text, "until": time.time() + (contract.cache_seconds or 0)}
        yield Wait(lambda: store.put(where, key, value), lambda: store.aput(where, key, value))

    def clear(self) -> Steps[None]:
        """Empty the cache of the user."""
        store, where = self._store, self._namespace
        if store is None:
            return
        while True:
            kept = yield Wait(
                lambda: store.search(where, limit=_MANY), lambda: store.asearch(where, limit=_MANY)
            )
            if not kept:
                return
            gone = [PutOp(item.namespace, item.key, None) for item in kept]
            yield Wait(lambda: store.batch(gone), lambda: store.abatch(gone))  # noqa: B023


def _cacheable(contract: Contract) -> bool:
    return contract.effect == "read_only" and bool(contract.cache_seconds)


def _key(contract: Contract, arguments: dict[str, Any]) -> str:
    own = current_filter().own
    parts = [arguments, None if own is None else sorted(own())]
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(f"{contract.fingerprint}\n{canonical}".encode()).hexdigest()
