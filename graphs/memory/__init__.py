"""Memory: one SQLite file that holds the checkpoints, the store and the cache.

    with open_memory("rungs.sqlite") as memory:
        graph = build().compile(checkpointer=memory.saver, store=memory.store, cache=memory.cache)

The same objects serve `invoke`, `ainvoke`, `stream` and `astream`, several threads, several event
loops one after the other, and, through a `Memory` each, several processes.
"""

from graphs.memory.file import MemoryFileError
from graphs.memory.handle import Memory, open_memory, server_checkpointer, server_store
from graphs.memory.saver import Saver
from graphs.memory.store import Cache, Store

__all__ = [
    "Cache",
    "Memory",
    "MemoryFileError",
    "Saver",
    "Store",
    "open_memory",
    "server_checkpointer",
    "server_store",
]
