"""The model of a graph, fixed when it is built or named by the run, with its tools bound once."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable

from graphs import models
from graphs.context import Context
from graphs.models.capabilities import without_strict
from graphs.reach import Reach
from graphs.waiting import Wait
from tools import Contract, ToolSet

MOST_BOUND = 100
"""Bindings that are kept: searches load ever other sets of tools, and the oldest goes."""

Bound = Runnable[LanguageModelInput, AIMessage]


ANY = "any"
"""LangChain's word for a call that is demanded, of whichever tool."""


class Shown(Protocol):
    """A tool as a model is shown it."""

    @property
    def name(self) -> str:
        """Its name."""

    def openai(self) -> dict[str, Any]:
        """Return it as chat-completion APIs take it."""


class ModelSource:
    """Gives the model of a run, and makes each binding of tools once a graph, not once a call.

    Args:
        model: A chat model, a `provider:name`, or None for the run's `context.model`.
        tools: The tools it may be shown.
        forced: The tool that it is told to call, once, whenever it is shown any; "any" is one of
            them, or several.
        reach: Where other tools are that it may be shown.

    Attributes:
        reach: What a call of one of them comes to.

    Raises:
        ModelError: A model named here can't be used as it is configured.
    """

    def __init__(
        self,
        model: BaseChatModel | str | None,
        tools: Sequence[Shown],
        *,
        forced: str | None = None,
        reach: Reach | None = None,
    ) -> None:
        self._model = models.resolve(model) if isinstance(model, str) else model
        late = isinstance(tools, ToolSet)
        self._tools: Mapping[str, Shown] = {} if late else {tool.name: tool for tool in tools}
        self._forced = forced
        own = [tool for tool in self._tools.values() if isinstance(tool, Contract)]
        self.reach = reach or Reach(tools if isinstance(tools, ToolSet) else own)
        self._bound: dict[tuple[Any, ...], Bound | None] = {}
        self._without_stop: set[str | None] = set()
        self._without_stream: set[str | None] = set()
        if self._model is not None:
            import graphs.models.guard  # noqa: F401 - now: an event loop must not wait for it later

    def name(self, context: Context) -> str:
        """Name the model, as `usage` tells it."""
        model = self._model or models.resolve(context.model)
        names = (getattr(model, name, None) for name in ("told_as", "model_name", "model"))
        name = next((name for name in names if name), None)
        return str(name or model._llm_type)  # noqa: SLF001 - langchain's own word for the kind of a model

    def bound(self, context: Context, offered: Iterable[str], stop: Sequence[str] = ()) -> Bound:
        """Return the model with the offered tools bound to it, and the texts at which it stops."""
        bound = self._made(context, offered, stop, guard=False)
        if bound is None:
            raise TypeError("a model that is not guarded is always there")
        return bound

    def guarded(
        self,
        context: Context,
        offered: Iterable[str],
        stop: Sequence[str] = (),
        *,
        streams: bool = False,
    ) -> Bound | None:
        """Return the same, redacted before anybody is told; None for a model of another kind.

        Args:
            context: The run's settings.
            offered: Names of the tools bound.
            stop: Texts at which it is to stop.
            streams: Whether each reply is read as a stream, where the model has one.
        """
        return self._made(context, offered, stop, guard=True, streams=streams)

    def _made(
        self,
        context: Context,
        offered: Iterable[str],
        stop: Sequence[str],
        *,
        guard: bool,
        streams: bool = False,
    ) -> Bound | None:
        name = self._key(context)
        stop = () if name in self._without_stop else tuple(stop)
        found = [self._tools.get(name) or self.reach.get(name) for name in offered]
        tools = [tool for tool in found if tool is not None]
        # By fingerprint: a catalog may have another tool of a name by now.
        made_of = tuple(getattr(tool, "fingerprint", tool.name) for tool in tools)
        key = (name, made_of, stop, guard, streams)
        if key not in self._bound:
            model = self._model or models.resolve(context.model)
            schemas = [tool.openai() for tool in tools]
            bound = self._bind(model, schemas) if schemas else model
            bound = bound.bind(stop=list(stop)) if stop else bound
            made: Bound | None = bound
            if guard:
                from graphs.models.guard import guarded

                made = guarded(bound, streams=streams)
            if len(self._bound) >= MOST_BOUND:
                self._bound.pop(next(iter(self._bound)), None)
            self._bound[key] = made
        return self._bound[key]

    def _bind(self, model: BaseChatModel, schemas: list[dict[str, Any]]) -> Bound:
        if self._forced is None:
            return model.bind_tools(schemas)
        if getattr(model, "capabilities", None) is None:  # what else its server takes is not known
            plain = [without_strict(schema) for schema in schemas]
            return model.bind_tools(plain, tool_choice=self._forced)
        one = {} if self._forced == ANY else {"parallel_tool_calls": False}
        return model.bind_tools(schemas, tool_choice=self._forced, **one)

    def takes_stop(self, context: Context) -> bool:
        """Tell whether this model's server is sent stop sequences: some are known to refuse."""
        if self._key(context) in self._without_stop:
            return False
        model = self._model or models.resolve(context.model)
        return bool(getattr(getattr(model, "capabilities", None), "stop", True))

    def may_stream(self, context: Context) -> bool:
        """Tell whether this model's server has not refused to stream."""
        return self._key(context) not in self._without_stream

    def leave_out_stream(self, context: Context) -> None:
        """Ask this model for no stream of our own accord any more: its server refused one."""
        self._without_stream.add(self._key(context))

    def leave_out_stop(self, context: Context) -> None:
        """Send this model no stop sequence any more, because its server refused one."""
        self._without_stop.add(self._key(context))

    def _key(self, context: Context) -> str | None:
        return None if self._model else context.model

    def is_ready(self, context: Context) -> bool:
        """Tell whether the model is there already."""
        return self._model is not None or (context.model, (), (), True, False) in self._bound

    def prepare(self, context: Context) -> Wait[object]:
        """Import and build the model, which may block, away from an event loop."""
        return Wait(
            lambda: self.guarded(context, ()),
            lambda: asyncio.to_thread(self.guarded, context, ()),
        )
