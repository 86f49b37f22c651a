"""The ledger of calls that change state: each is entered before it runs, and again after.

A run that is resumed after a crash finds in it what became of the step that was cut short. A call
that ended is answered from the ledger; one whose end is unknown is not run again, whatever the
model or the graph would like, and its result says so.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import ToolCall, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from graphs.calls import sealed
from graphs.claims import claims_of
from graphs.process_ledger import process_ledger, warn_of
from graphs.waiting import Steps, Wait
from tools.notes import user_label

UNKNOWN = (
    "not executed again: a crash or a cancel cut this call short, and whether it took effect is "
    "unknown; check before you try something like it"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What the ledger holds of a call.

    Attributes:
        ended: Whether its end was recorded too.
        content: The text of its result.
        status: Whether it succeeded.
    """

    ended: bool
    content: str = ""
    status: Literal["success", "error"] = "error"


class Ledger:
    """The ledger of one thread, in the graph's store; without a thread it is off.

    Without a store it is kept for the checkpointer in this process, and is off where there is none.

    Args:
        store: Where it is kept.
        thread_id: The thread; None where nothing can be resumed.
        saver: The graph's checkpointer.
    """

    def __init__(
        self,
        store: BaseStore | None,
        thread_id: str | None,
        saver: BaseCheckpointSaver[Any] | None = None,
    ) -> None:
        has_thread = bool(thread_id and thread_id.strip())
        self._given = store if has_thread else None
        self._saver = saver if has_thread and store is None else None
        self._namespace = namespace_of(thread_id or "none")

    @property
    def is_kept(self) -> bool:
        """Whether what is not entered did not begin, whatever process it was in."""
        return self._given is not None

    @property
    def _store(self) -> BaseStore | None:
        if self._saver is None:
            return self._given
        return process_ledger(self._saver)

    def look_up(self, call: ToolCall) -> Steps[Entry | None]:
        """Return what is entered for a call, or None."""
        store, where, key = self._store, self._namespace, _key(call)
        if store is None:
            return None
        item = yield Wait(lambda: store.get(where, key), lambda: store.aget(where, key))
        return Entry(**item.value) if item else None

    def enter(self, call: ToolCall) -> Steps[bool]:
        """Enter a call before it runs; return whether it was not there, and so may run now.

        On the memory file and on Postgres this is one atomic step, also between processes. Another
        store has no such step: there two resumes at the same moment are kept apart in one process,
        and by nothing where they come in two.
        """
        store, where, key = self._store, self._namespace, _key(call)
        if store is None:
            return True
        if self._saver is not None:
            warn_of(self._saver, call["name"])
        value = _value(Entry(ended=False))
        if (claims := claims_of(store)) is not None:
            claimed: bool = yield Wait(
                lambda: claims.put_if_absent(where, key, value),
                lambda: claims.aput_if_absent(where, key, value),
            )
            return claimed
        if not process_ledger(store).put_if_absent(where, key, value):
            return False
        if (yield from self.look_up(call)) is not None:
            return False
        yield from self._put(call, Entry(ended=False))
        return True

    def close(self, call: ToolCall, result: ToolMessage) -> Steps[None]:
        """Enter how a call ended."""
        yield from self._put(call, Entry(ended=True, content=result.text, status=result.status))

    def strike(self, call: ToolCall) -> Steps[None]:
        """Take a call out that paused before it did anything, and will run anew."""
        store, where, key = self._store, self._namespace, _key(call)
        if store is None:
            return
        yield Wait(lambda: store.delete(where, key), lambda: store.adelete(where, key))
        if claims_of(store) is None:
            process_ledger(store).delete(where, key)

    def _put(self, call: ToolCall, entry: Entry) -> Steps[None]:
        store, where, key = self._store, self._namespace, _key(call)
        if store is None:
            return
        value = _value(entry)
        yield Wait(
            lambda: store.put(where, key, value, index=False),
            lambda: store.aput(where, key, value, index=False),
        )


def namespace_of(thread_id: str) -> tuple[str, str]:
    """Return where a thread's ledger is kept."""
    return ("ledger", user_label(thread_id))


def _key(call: ToolCall) -> str:
    return f"{call['id']}:{digest_of(call)[:32]}"


def _value(entry: Entry) -> dict[str, Any]:
    return {"ended": entry.ended, "content": entry.content, "status": entry.status}


def digest_of(call: ToolCall) -> str:
    """Return what tells a call from another one of the same id."""
    secret = sealed(call)
    canonical: Any = [call["name"], call["args"], *([secret] if secret else [])]
    text = json.dumps(canonical, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
