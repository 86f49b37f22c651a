"""A rule-based model, for demonstrations without a key: it decides by rules, and says so."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from graphs.models import offline_react, offline_summary
from graphs.models.offline_answer import demanded_step, next_step
from graphs.models.offline_conversation import Conversation
from graphs.models.offline_finding import reachable, through
from graphs.models.offline_plan import sort_tools
from graphs.models.offline_record import fill_record
from graphs.models.replies import chunks_of


class OfflineModel(BaseChatModel):
    """Decide the next step from the question, the bound tools and the transcript.

    * "Remember that ..." is a note, a sum goes to a calculator, everything else to a search tool;
      tools are told apart by their names, parameters and descriptions.
    * A question about "the company that acquired Acme" is searched in two steps, and a formula of
      a document is filled with the question's numbers.
    * A question about one order, customer or invoice goes to the tool that its words ask for, with
      the ids and amounts that it gives; where tools are searched for, it searches first.
    * A tool that it is forced to call gets the arguments that the text gives, field by field.
    * Where the prompt asks for the ReAct format it writes a Thought and one Action at a time, and
      keeps notes of a plan of several parts where there is a notes file.
    * An answer is made of a result's own sentences, with the document's title. Where too little of
      the question is covered, the answer says that nothing was found.

    It is no language model: it understands nothing, and invents nothing. Its usage is unknown.
    """

    model_name: str = "offline"

    @property
    def _llm_type(self) -> str:
        return "offline"

    @property
    def told_as(self) -> str:
        """Say in `usage` what answers, so that nobody takes it for a language model."""
        return "offline (rules, not a language model)"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools by their OpenAI schemas; `tool_choice` "none" turns them off.

        With a tool's name that tool is called; with "any" a call is demanded, needed or not.
        """
        schemas = [] if tool_choice == "none" else [convert_to_openai_tool(t) for t in tools]
        if tool_choice in [schema["function"]["name"] for schema in schemas]:
            kwargs["tool_choice"] = tool_choice
        return self.bind(tools=schemas, demanded=tool_choice in {"any", "required"}, **kwargs)

    def _reply(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> AIMessage:
        schemas = kwargs.get("tools") or ()
        step: str | list[tuple[str, dict[str, Any]]]
        if forced := kwargs.get("tool_choice"):
            step = [(forced, _forced_arguments(messages, schemas, forced))]
        elif (summary := offline_summary.summary_of(messages)) is not None:
            step = summary
        elif (reading := offline_react.read(messages)) is not None:
            step = offline_react.reply_to(reading)
        else:
            seen = Conversation.read(messages)
            schemas, behind = reachable(schemas, seen)
            tools = sort_tools(schemas)
            step = next_step(seen, tools)
            if isinstance(step, str) and kwargs.get("demanded"):
                step = demanded_step(seen, tools) or step
            if not isinstance(step, str):
                step = through(step, behind)
        metadata = {"model_name": self.model_name, "model_provider": "offline"}
        if isinstance(step, str):
            return AIMessage(step, response_metadata={**metadata, "finish_reason": "stop"})
        calls = [
            tool_call(name=name, args=arguments, id=f"call_{uuid.uuid4().hex[:24]}")
            for name, arguments in step
        ]
        metadata["finish_reason"] = "tool_calls"
        return AIMessage("", tool_calls=calls, response_metadata=metadata)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the base's
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the base's
        **kwargs: Any,
    ) -> ChatResult:
        message = self._reply(messages, kwargs)
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
        stop: list[str] | None = None,  # noqa: ARG002 - the base's
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for message in chunks_of(self._reply(messages, kwargs)):
            chunk = ChatGenerationChunk(message=message)
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the base's
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for message in chunks_of(self._reply(messages, kwargs)):
            chunk = ChatGenerationChunk(message=message)
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


def _forced_arguments(
    messages: Sequence[BaseMessage], schemas: Sequence[dict[str, Any]], name: str
) -> dict[str, Any]:
    """Fill the parameters of the tool that must be called from the newest human message."""
    parameters = next(s["function"] for s in schemas if s["function"]["name"] == name)["parameters"]
    text = next((m.text for m in reversed(messages) if m.type == "human"), "")
    return fill_record(text, parameters)
