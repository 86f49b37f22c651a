"""What keeps calls apart in this process alone, where a graph has no store with an atomic step.

A graph with a checkpointer of one's own and no store can be resumed, and so make a call twice, but
has nowhere to enter it. What is entered here keeps answers to one pause apart, two at the same
moment included, and is gone with the process.
"""

import logging
import threading
from typing import Any
from weakref import WeakKeyDictionary

from langgraph.store.memory import InMemoryStore

MOST = 2_000
"""Calls that are kept for one checkpointer or store, a fixed number; the oldest are forgotten."""

NO_STORE = (
    "%s changes state in a graph with a checkpointer and no store: its ledger is kept in this "
    "process alone, and after a restart, or in another process, a call that is approved again runs "
    "again; pass store= to compile, or use open_graph"
)

logger = logging.getLogger("rungs")


class ProcessLedger(InMemoryStore):
    """Items in memory that are entered in one atomic step."""

    def __init__(self) -> None:
        super().__init__()
        self._entering = threading.Lock()
        self._entered: dict[tuple[tuple[str, ...], str], None] = {}

    def put_if_absent(self, namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> bool:
        """Put an item, and tell whether there was none."""
        with self._entering:
            if self.get(namespace, key) is not None:
                return False
            self.put(namespace, key, value, index=False)
            self._entered[namespace, key] = None
            if len(self._entered) > MOST:
                oldest = next(iter(self._entered))
                del self._entered[oldest]
                self.delete(*oldest)
            return True

    async def aput_if_absent(
        self, namespace: tuple[str, ...], key: str, value: dict[str, Any]
    ) -> bool:
        """Put an item, and tell whether there was none; that waits for nothing."""
        return self.put_if_absent(namespace, key, value)


_ledgers: WeakKeyDictionary[Any, ProcessLedger] = WeakKeyDictionary()
_warned: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
_guard = threading.Lock()


def process_ledger(keeper: Any) -> ProcessLedger:
    """Return the ledger that belongs to a checkpointer or a store, and goes with it."""
    with _guard:
        if keeper not in _ledgers:
            _ledgers[keeper] = ProcessLedger()
        return _ledgers[keeper]


def warn_of(saver: Any, tool: str) -> None:
    """Log, once for a checkpointer, that a tool changes state and its graph has no store."""
    with _guard:
        known = saver in _warned
        _warned[saver] = True
    if not known:
        logger.warning(NO_STORE, tool)
