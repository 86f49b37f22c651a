"""One run at a time in a thread, between all processes and machines that use the database."""

import asyncio
import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from psycopg import Error, OperationalError

from graphs.database_url import Address
from graphs.memory.postgres.connections import Rows, connect
from graphs.thread_locks import in_use

_KEY = "hashtextextended('rungs thread:' || current_schema() || ':' || %s, 0)"
_VANISHED = (
    "SET tcp_keepalives_idle = 20",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 4",
)
"""A machine that went away without a word lets go of its threads after 40 seconds."""

_TURNS, _TURN = 25, 0.02
"""How often, and how many seconds apart, a thread that is in use is asked for: the server learns
of a process that was killed a moment after it."""

logger = logging.getLogger("rungs")


class ThreadLocks:
    """The threads that one memory holds, as advisory locks of one connection.

    The server lets go of them when the connection ends, however the process ends. A connection that
    was lost is made anew, and what was held is taken again. One thread of our own does all of this,
    one after another, so that a lock which is let go of is free for whoever asks next.
    """

    def __init__(self, address: Address, connection: Rows) -> None:
        self._address = address
        self._connection = connection
        self._held: set[str] = set()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rungs-locks")
        self._worker.submit(self._expect_to_vanish).result()

    def take(self, thread_id: str) -> None:
        """Hold a thread.

        Raises:
            ThreadInUseError: Another run is in it.
        """
        for turn in range(_TURNS):
            if self._worker.submit(self._try, thread_id).result():
                return
            if turn < _TURNS - 1:
                time.sleep(_TURN)
        raise in_use(thread_id)

    async def atake(self, thread_id: str) -> None:
        """Do `take` off the event loop."""
        for turn in range(_TURNS):
            asked = self._worker.submit(self._try, thread_id)
            try:
                if await asyncio.wrap_future(asked):
                    return
            except asyncio.CancelledError:
                asked.add_done_callback(lambda done: self._undo(done, thread_id))
                raise
            if turn < _TURNS - 1:
                await asyncio.sleep(_TURN)
        raise in_use(thread_id)

    def let_go(self, thread_id: str) -> None:
        """Let go of a thread; whoever asks next, through this memory, finds it free."""
        with suppress(RuntimeError):  # the memory was closed, and the lock with it
            self._worker.submit(self._release, thread_id)

    def close(self) -> None:
        """Let go of all threads, and close the connection."""
        self._worker.shutdown()
        self._connection.close()

    def _undo(self, asked: "Future[bool]", thread_id: str) -> None:
        if not asked.cancelled() and asked.exception() is None and asked.result():
            self.let_go(thread_id)

    def _try(self, thread_id: str) -> bool:
        if thread_id in self._held:
            return False
        try:
            taken = self._ask(thread_id)
        except OperationalError:
            self._reconnect()
            taken = self._ask(thread_id)
        if taken:
            self._held.add(thread_id)
        return taken

    def _ask(self, thread_id: str) -> bool:
        asked = self._connection.execute(
            f"SELECT pg_try_advisory_lock({_KEY}) AS taken", (thread_id,)
        )
        row = asked.fetchone()
        return bool(row and row["taken"])

    def _release(self, thread_id: str) -> None:
        self._held.discard(thread_id)
        with suppress(Error):  # a connection that is gone holds nothing
            self._connection.execute(f"SELECT pg_advisory_unlock({_KEY})", (thread_id,))

    def _reconnect(self) -> None:
        self._connection.close()
        self._connection = connect(self._address)
        self._expect_to_vanish()
        for thread_id in self._held:
            if not self._ask(thread_id):
                logger.warning("thread %s was taken by another run meanwhile", thread_id)

    def _expect_to_vanish(self) -> None:
        for statement in _VANISHED:
            with suppress(Error):  # a connection without TCP has no such settings
                self._connection.execute(statement)
