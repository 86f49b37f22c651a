"""A chat model whose replies are redacted before any callback, stream or trace sees them.

LangChain tells each streamed piece to whoever listens as it comes from the model, long before a
graph has the reply. So what is taken out is taken out here, between the model and LangChain's own
machinery: tokens held back for as long as they may become part of a match, the arguments of a tool
call until they are whole. The graph itself is handed the real arguments beside (`RawCalls`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding

from graphs.models.clean_chunks import CleanChunks, clean_message, scrub
from graphs.models.raw_calls import RawCalls, heard
from tools.redact import redact_data

_SAME = (
    *("name", "callbacks", "tags", "metadata", "verbose", "rate_limiter", "disable_streaming"),
    *("output_version", "profile"),
)


class GuardedModel(BaseChatModel):
    """Stand in for a model, and redact what it says.

    It keeps true that
    * pieces of text put together are the redacted text of the reply, each told once;
    * no callback is told a part of what is taken out, nor an error's text that holds it;
    * of a reply whose caller says what of it counts, nothing else is told, and no more is read than
      that;
    * the reply is otherwise as it came.
    """

    inner: BaseChatModel
    streams: bool = False
    """Read each reply as a stream, where the model has one, also for who asks for it whole."""

    @classmethod
    def of(cls, inner: BaseChatModel, *, streams: bool = False) -> GuardedModel:
        """Guard a model, under its own settings; its results are not kept in a cache."""
        same = {name: getattr(inner, name, None) for name in _SAME}
        given = {name: value for name, value in same.items() if value is not None}
        return cls(inner=inner, streams=streams, cache=False, **given)

    @property
    def _llm_type(self) -> str:
        return self.inner._llm_type  # noqa: SLF001 - it speaks for the model it guards

    @property
    def _identifying_params(self) -> Any:
        return self.inner._identifying_params  # noqa: SLF001

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        """Return the guarded model's name."""
        return self.inner.get_name(suffix, name=name)

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return self.inner._get_ls_params(stop=stop, **kwargs)  # noqa: SLF001

    def _should_stream(self, **kwargs: Any) -> bool:
        wanted = {"stream": True} if self.streams else {}
        return self.inner._should_stream(**{**kwargs, **wanted})  # noqa: SLF001

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - it would tell tokens
        **kwargs: Any,
    ) -> ChatResult:
        with scrub():
            return _clean(self.inner._generate(messages, stop=stop, **kwargs))  # noqa: SLF001

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - it would tell tokens
        **kwargs: Any,
    ) -> ChatResult:
        with scrub():
            return _clean(await self.inner._agenerate(messages, stop=stop, **kwargs))  # noqa: SLF001

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        chunks = CleanChunks(_ear())
        came = self.inner._stream(messages, stop=stop, **kwargs)  # noqa: SLF001
        with scrub():
            for chunk in came:
                for clean in chunks.take(chunk):
                    if run_manager:
                        run_manager.on_llm_new_token(clean.text, chunk=clean)
                    yield clean
                if chunks.ended:
                    break
            if chunks.ended:
                _close(came)
            for clean in chunks.stop() if chunks.ended else chunks.rest():
                if run_manager:
                    run_manager.on_llm_new_token(clean.text, chunk=clean)
                yield clean

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        chunks = CleanChunks(_ear())
        came = self.inner._astream(messages, stop=stop, **kwargs)  # noqa: SLF001
        with scrub():
            async for chunk in came:
                for clean in chunks.take(chunk):
                    if run_manager:
                        await run_manager.on_llm_new_token(clean.text, chunk=clean)
                    yield clean
                if chunks.ended:
                    break
            if chunks.ended:
                await _aclose(came)
            for clean in chunks.stop() if chunks.ended else chunks.rest():
                if run_manager:
                    await run_manager.on_llm_new_token(clean.text, chunk=clean)
                yield clean


def guarded(model: Runnable[Any, Any], *, streams: bool = False) -> Runnable[Any, Any] | None:
    """Guard a model, also one with tools bound to it; None for what is neither.

    Args:
        model: The model.
        streams: Whether each of its replies is read as a stream.
    """
    if isinstance(model, GuardedModel):
        return GuardedModel.of(model.inner, streams=True) if streams else model
    if isinstance(model, BaseChatModel):
        return GuardedModel.of(model, streams=streams)
    if isinstance(model, RunnableBinding):
        inner = guarded(model.bound, streams=streams)
        return None if inner is None else model.model_copy(update={"bound": inner})
    return None


def _close(stream: Iterator[Any]) -> None:
    """Give up a stream, so that its server may stop writing; a plain iterator has no end."""
    if close := getattr(stream, "close", None):
        close()


async def _aclose(stream: AsyncIterator[Any]) -> None:
    if close := getattr(stream, "aclose", None):
        await close()


def _ear() -> RawCalls:
    return heard.get() or RawCalls()


def _clean(result: ChatResult) -> ChatResult:
    ear = _ear()
    ear.begin()
    generations: list[ChatGeneration] = []
    for generation in result.generations:
        ear.whole = generation.message
        clean = clean_message(generation.message, ear.found, ear.cut() if ear.cut else None)
        info = redact_data(generation.generation_info)
        told = {"message": clean, "text": clean.text, "generation_info": info}
        generations.append(generation.model_copy(update=told))
    about = redact_data(result.llm_output)
    return result.model_copy(update={"generations": generations, "llm_output": about})
