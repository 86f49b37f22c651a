"""An opened database."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

from graphs.database_url import read_url
from graphs.memory.memory import Memory
from graphs.memory.postgres.connections import POOL, connect, open_pool
from graphs.memory.postgres.locks import ThreadLocks
from graphs.memory.postgres.saver import Saver
from graphs.memory.postgres.store import Cache, Store
from graphs.memory.postgres.tables import prepare


class PostgresMemory(Memory):
    """Saver, store, cache and locks of one database."""

    def __init__(self, url: str) -> None:
        address = read_url(url)
        self.shown = address.shown
        with ExitStack() as opened:
            connection = opened.enter_context(connect(address))
            prepare(connection, address)
            pool = opened.enter_context(closing(open_pool(address)))
            executor = ThreadPoolExecutor(max_workers=POOL, thread_name_prefix="rungs-memory")
            opened.callback(executor.shutdown)
            self.saver = Saver(pool, executor)
            self.store = Store(pool, executor)
            self.cache = Cache(pool, executor)
            self._locks = opened.enter_context(closing(ThreadLocks(address, connection)))
            self._opened = opened.pop_all()

    def take(self, thread_id: str) -> None:
        """Hold a thread for one run, against all other runs on this database."""
        self._locks.take(thread_id)

    async def atake(self, thread_id: str) -> None:
        """Do `take` off the event loop."""
        await self._locks.atake(thread_id)

    def let_go(self, thread_id: str) -> None:
        """Let go of a thread."""
        self._locks.let_go(thread_id)
