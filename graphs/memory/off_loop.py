"""Blocking calls off the event loop, and a saver that serves async callers that way."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, DeltaChannelHistory

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def off_loop(
    executor: Executor,
    call: Callable[Arguments, Result],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result:
    """Make a blocking call in one of the executor's threads.

    Unlike `asyncio.to_thread` it does not share the loop's own threads: sync tools run there, and
    a few that hang would keep a checkpoint from being written.
    """
    return await asyncio.get_running_loop().run_in_executor(
        executor, partial(call, *args, **kwargs)
    )


class OffLoopSaver(BaseCheckpointSaver[str]):
    """The async methods of a saver that has sync ones; each does its sync namesake off the loop.

    `aput` and `aput_writes` are left to those that know how they write.
    """

    _executor: Executor

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that the config names, or the thread's newest."""
        return await off_loop(self._executor, self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's signature
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints, newest first."""
        for item in await off_loop(
            self._executor, self.list, config, filter=filter, before=before, limit=limit
        ):
            yield item

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread."""
        await off_loop(self._executor, self.delete_thread, thread_id)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread."""
        await off_loop(self._executor, self.copy_thread, source_thread_id, target_thread_id)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Read what `DeltaChannel`s are rebuilt from."""
        return await off_loop(
            self._executor, self.get_delta_channel_history, config=config, channels=channels
        )
