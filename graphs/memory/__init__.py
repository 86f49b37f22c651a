"""Memory: one SQLite file, or one Postgres database, with checkpoints, store and cache.

    with open_memory("rungs.sqlite") as memory:
        graph = build().compile(checkpointer=memory.saver, store=memory.store, cache=memory.cache)

`open_memory("postgresql://...")` opens a database. The same objects serve `invoke`, `ainvoke`,
`stream` and `astream`, several threads, several event loops one after the other, and, through a
`Memory` each, several processes.
"""

from graphs.memory.file import MemoryFileError
from graphs.memory.handle import (
    FileMemory,
    open_memory,
    server_checkpointer,
    server_place,
    server_store,
)
from graphs.memory.memory import Memory
from graphs.memory.saver import Saver
from graphs.memory.store import Cache, Store

__all__ = [
    "Cache",
    "FileMemory",
    "Memory",
    "MemoryFileError",
    "Saver",
    "Store",
    "open_memory",
    "server_checkpointer",
    "server_place",
    "server_store",
]
