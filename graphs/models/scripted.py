"""A model that replays given replies and records what it was sent: the double of every test."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

from graphs.models.errors import ModelError, ModelReplyError
from graphs.models.replies import Request, chunks_of, message_of


class ScriptExhausted(AssertionError):  # noqa: N818 - it states what happened to the script
    """The model was called more often than the script has replies."""


class ScriptedModel(BaseChatModel):
    """Replay `replies` in order; every call is recorded in `requests`.

    A reply is one of

    * text, or an `AIMessage`;
    * a mapping: `text`, `tool_calls` (each `id`, `name` and `args`, or `args_raw` for the raw text
      a server would send), `finish` (the finish reason), `usage` (`input_tokens`, `output_tokens`;
      left out means unknown), `stream_chunks` (the exact pieces: `text`, `tool_calls` with `index`,
      `id`, `name`, `args`, and `finish`);
    * a mapping with `error`, or an exception: raised;
    * a callable, given the messages and the tool schemas, that returns one of these.

    Raises:
        ScriptExhausted: there is no reply left.
    """

    replies: list[Any] = Field(default_factory=list, repr=False)
    continues: bool = False
    """Skip as many replies as the first request has AI messages: another process goes on."""

    _requests: list[Request] = PrivateAttr(default_factory=list)
    _start: int = PrivateAttr(default=0)

    @classmethod
    def from_file(cls, path: Path | str) -> ScriptedModel:
        """Read the replies from a JSON file: a list, or an object with `replies`.

        Raises:
            ModelError: the file can't be read, or holds no such list.
        """
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"can't read the script {path}: {error}") from error
        replies = data.get("replies") if isinstance(data, dict) else data
        if not isinstance(replies, list) or not all(isinstance(r, str | dict) for r in replies):
            raise ModelError(f"the script {path} must be a JSON list of replies (text or objects)")
        return cls(replies=replies, continues=True)

    @property
    def requests(self) -> list[Request]:
        """Return what each call was sent, oldest first."""
        return self._requests

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools as a real model does, by their OpenAI schemas."""
        schemas = [convert_to_openai_tool(tool) for tool in tools]
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        return self.bind(tools=schemas, **kwargs)

    def _next(self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Any) -> Any:
        if self.continues and not self._requests:
            self._start = sum(isinstance(message, AIMessage) for message in messages)
        position = self._start + len(self._requests)
        request = Request(
            messages=list(messages),
            tool_schemas=list(kwargs.get("tools") or ()),
            tool_choice=kwargs.get("tool_choice"),
            stop=stop,
            response_format=kwargs.get("response_format"),
        )
        self._requests.append(request)
        if position >= len(self.replies):
            raise ScriptExhausted(
                f"the script has {len(self.replies)} replies, and the model was called"
                f" {position + 1} times"
            )
        reply = self.replies[position]
        if callable(reply) and not isinstance(reply, type | BaseMessage):
            reply = reply(request.messages, request.tool_schemas)
        if isinstance(reply, dict) and "error" in reply:
            reply = ModelReplyError(str(reply["error"]))
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the base's
        **kwargs: Any,
    ) -> ChatResult:
        message = message_of(self._next(messages, stop, kwargs))
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the base's
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, **kwargs)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, stop, kwargs):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, stop, kwargs):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _chunks(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Any
    ) -> list[ChatGenerationChunk]:
        reply = self._next(messages, stop, kwargs)
        if isinstance(reply, AIMessageChunk):
            return [ChatGenerationChunk(message=reply)]
        return [ChatGenerationChunk(message=chunk) for chunk in chunks_of(reply)]
