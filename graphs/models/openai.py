"""The OpenAI-compatible chat model: the stock one's requests and results, cheaper and stricter."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any, Self

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models._compat import _convert_from_v1_to_chat_completions
from langchain_openai.chat_models.base import (
    _add_gateway_metadata,
    _convert_message_to_dict,
)
from pydantic import Field, PrivateAttr, model_validator

from graphs.models.capabilities import Capabilities, look_up, permitted
from graphs.models.chat_result import (
    UNREADABLE,
    chat_result,
    object_result,
    read_json,
    unreadable,
)
from graphs.models.deltas import repaired
from graphs.models.loops import LoopBoundClient
from graphs.models.openai_errors import stock_errors
from graphs.models.replay import replayable
from graphs.models.stream_watch import Ending
from graphs.models.streams import AsyncCompletions, Completions
from graphs.models.wire import (
    MARK,
    Encoded,
    Template,
    Templates,
    moved_aside,
    parameters_key,
    split_at_the_mark,
    stock_body,
)

_PATH = "/chat/completions"
# As the stock client's `with_raw_response.create` sends it.
_OPTIONS: Any = {
    "headers": {"X-Stainless-Raw-Response": "true"},
    "security": {"bearer_auth": True},
}
_PER_CALL = frozenset({"extra_headers", "extra_query", "timeout", "response_format"})


class RungsChatOpenAI(ChatOpenAI):
    """`ChatOpenAI` with cheap requests, strict replies and one client for every event loop.

    * Requests are, byte for byte, those of the stock class for `replayable` messages and the
      parameters that `capabilities` lets through. Where the stock class would use the Responses
      API, parse a `response_format`, or send headers of one call, its own path is taken.
    * A call whose arguments do not parse is an invalid call; a reply that is none raises
      `ModelReplyError`; HTTP errors are the stock ones, with keys removed from their text.
    * Nothing is retried here: retries are the caller's (`graphs.models.retry`).
    """

    max_retries: int | None = 0
    capabilities: Capabilities | None = Field(default=None, exclude=True)
    """What the server takes; None looks it up by base URL and model name."""

    _encoded: Encoded = PrivateAttr(default_factory=Encoded)
    _templates: Templates = PrivateAttr(default_factory=Templates)

    @model_validator(mode="after")
    def _set_up_for_rungs(self) -> Self:
        if self.capabilities is None:
            base = str(self.root_async_client.base_url) if self.root_async_client else None
            self.capabilities = look_up(self.model_name, base)
        if self.stream_usage is None:
            self.stream_usage = self.capabilities.stream_options
        if self.http_async_client is None and self.root_async_client is not None:
            client = self.root_async_client.with_options(http_client=LoopBoundClient())
            self.root_async_client, self.async_client = client, client.chat.completions
        if self.client is not None and not isinstance(self.client, Completions):
            self.client = Completions(self.client)
        if not isinstance(self.async_client, Completions):
            self.async_client = AsyncCompletions(self.async_client)
        return self

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Make the arguments of `create`, with the bulk where the client does not walk it."""
        can = self.capabilities or Capabilities()
        stop = permitted(can, stop, kwargs)
        messages = replayable(self._convert_input(input_).to_messages())
        payload = super()._get_request_payload(messages, stop=stop, **kwargs)
        if not can.stop:  # the model's own field
            payload.pop("stop", None)
        return moved_aside(payload)

    def _body(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]
    ) -> bytes | None:
        """Return the request's bytes, or None where the stock path must be taken."""
        if not _PER_CALL.isdisjoint(kwargs) or not _PER_CALL.isdisjoint(self.model_kwargs):
            return None
        routing = (self.use_responses_api, self.output_version)
        key = parameters_key(self._default_params, routing, stop, kwargs)
        if key is None:
            return None
        template = self._templates.get(key, lambda: self._template(stop, kwargs))
        if template is None:
            return None
        head, tail = template
        sent = self._encoded.join(replayable(messages), self._to_dict, self.model_name)
        return b"".join((head, sent, tail))

    def _template(self, stop: list[str] | None, kwargs: dict[str, Any]) -> Template | None:
        payload = self._get_request_payload([HumanMessage(MARK)], stop=stop, **kwargs)
        if self._use_responses_api(payload) or "messages" not in payload:
            return None
        return split_at_the_mark(stock_body(payload))

    def _to_dict(self, message: BaseMessage) -> dict[str, Any]:
        if isinstance(message, AIMessage):
            message = _convert_from_v1_to_chat_completions(message)
        converted = _convert_message_to_dict(message)
        if converted["role"] == "system" and re.match(r"^o\d", self.model_name):
            converted["role"] = "developer"
        return converted

    def _create_chat_result(
        self, response: Any, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        """Read a reply of either path: raw JSON, or the client's object."""
        info = generation_info or {}
        if isinstance(response, dict):
            return chat_result(response, self.model_name, info)
        return object_result(response, self.model_name, info)

    def _read(self, raw: Any) -> ChatResult:
        info = {"headers": dict(raw.headers)} if self.include_response_headers else {}
        _add_gateway_metadata(info, raw)
        return self._create_chat_result(read_json(raw.content), info)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self._ensure_sync_client_available()
        with stock_errors(self.openai_api_key):
            body = self._body(messages, stop, kwargs)
            if body is None:
                return super()._generate(messages, stop, run_manager, **kwargs)
            raw = self.root_client.post(_PATH, content=body, cast_to=object, options=_OPTIONS)
            return self._read(raw)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with stock_errors(self.openai_api_key):
            body = self._body(messages, stop, kwargs)
            if body is None:
                return await super()._agenerate(messages, stop, run_manager, **kwargs)
            raw = await self.root_async_client.post(
                _PATH, content=body, cast_to=object, options=_OPTIONS
            )
            return self._read(raw)

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], *args: Any, **kwargs: Any
    ) -> ChatGenerationChunk | None:
        try:
            return super()._convert_chunk_to_generation_chunk(repaired(chunk), *args, **kwargs)
        except UNREADABLE as error:
            raise unreadable(error) from error

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        with stock_errors(self.openai_api_key), self._ending(kwargs) as ending:
            stream: Any = super()._stream(*args, **kwargs)
            with closing(stream):
                for chunk in stream:
                    ending.note(chunk)
                    yield chunk
            ending.check()

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        with stock_errors(self.openai_api_key), self._ending(kwargs) as ending:
            stream: Any = super()._astream(*args, **kwargs)
            async with aclosing(stream):
                async for chunk in stream:
                    ending.note(chunk)
                    yield chunk
            ending.check()

    def _ending(self, kwargs: dict[str, Any]) -> Ending:
        return Ending(parsed="response_format" in {**self.model_kwargs, **kwargs})
