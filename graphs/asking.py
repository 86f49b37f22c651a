"""One question to the model: tried again where that helps, its reply made fit for the record."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from uuid import uuid4

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig

from graphs.errors import UsageError
from graphs.model_source import Bound, ModelSource
from graphs.models import retry
from graphs.models.capabilities import refuses_stop, refuses_stream
from graphs.models.quirks import RawCalls, normalize_reply
from graphs.models.raw_calls import TextCut, heard
from graphs.node import Scope
from graphs.places import has_message, with_call_ids
from graphs.sealing import recordable
from graphs.sent_prompts import name_prompt
from graphs.token_estimate import estimate, estimate_messages
from graphs.transcript import with_system
from graphs.waiting import Steps, Wait
from tools.redact import redact

ESTIMATED = "estimated_tokens"
"""Key, in a reply's `response_metadata`, of what it probably cost where its server told nothing."""

FILTERED = "the model server's content filter refused the request"


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking.

    Attributes:
        reply: The reply as it is recorded, with `seconds` and `attempts` in its
            `response_metadata`, and without secrets; None where the model failed for good.
        real: The reply as the model made it, which is neither stored nor told: for who reads calls
            out of its text.
        failure: Why there is no reply, in one line.
        attempts: How often the model was called.
        seconds: How long that took, waits between attempts included.
        filtered: Whether the server's content filter refused the request.
        overflow: Whether the request was longer than the model's context.
    """

    reply: AIMessage | None
    failure: str
    attempts: int
    seconds: float
    filtered: bool = False
    real: AIMessage | None = None
    overflow: bool = False


def ask(
    source: ModelSource,
    system: BaseMessage,
    view: Sequence[BaseMessage],
    transcript: Sequence[BaseMessage],
    scope: Scope,
    *,
    offered: Collection[str],
    stop: Sequence[str] = (),
    cut: Callable[[], TextCut] | None = None,
    attempts: int = retry.ATTEMPTS,
) -> Steps[Asked]:
    """Ask the model for its next reply.

    Only this call is tried again, so that nothing a tool did is done twice.

    Args:
        source: The graph's model.
        system: The system prompt.
        view: What is sent after it.
        transcript: What is recorded so far: call and message ids in it are taken.
        scope: The run.
        offered: Names of the tools bound for this call, in order.
        stop: Texts at which the model is to stop. A server that refuses them is asked again
            without, and not sent them again: the caller cuts the reply itself.
        cut: Makes what tells which of the reply's text counts: nobody who listens is told the rest.
            From a server that is not sent `stop`, the reply is read as a stream, and no further
            than it counts, also where nobody listens; unless it refuses to stream.
        attempts: How often the model may be called, where a failure may pass.

    Raises:
        UsageError: The model does not exist, or its server refused the credentials.
    """
    sent = with_system(system, view)
    started = time.perf_counter()
    raw = RawCalls(cut)
    token = heard.set(raw)
    try:
        reply, made, streamed = yield from _as_it_takes(
            source, sent, scope, offered, stop=stop, raw=raw, attempts=attempts
        )
    except AssertionError:
        raise
    except Exception as error:
        if retry.is_configuration(error):
            raise UsageError(retry.describe(error)) from error
        made = attempts if retry.is_transient(error) else 1
        filtered = retry.is_content_filter(error)
        # What the filter's server says may quote the request.
        why = FILTERED if filtered else retry.describe(error)
        return Asked(
            None,
            why,
            made,
            time.perf_counter() - started,
            filtered=filtered,
            overflow=retry.is_context_overflow(error),
        )
    finally:
        heard.reset(token)
    seconds = time.perf_counter() - started
    came = _as_heard(reply, raw)
    real = with_call_ids(transcript, lambda known: normalize_reply(came, known, raw))
    if real.id is None or has_message(transcript, real.id) or redact(real.id) != real.id:
        real.id = str(uuid4())
    if raw.stopped:  # what the server told of it before its end is not the whole cost
        real.usage_metadata = None
    if real.usage_metadata is None and (raw.stopped or streamed):
        read = estimate("".join(raw.said) or str(real.text))
        told = {"input_tokens": estimate_messages(sent), "output_tokens": read}
        real.response_metadata[ESTIMATED] = told
    name_prompt(real, system)
    real.response_metadata |= {"seconds": round(seconds, 6), "attempts": made}
    reply = yield from recordable(real, dict(raw.found) if isinstance(real.content, list) else {})
    return Asked(reply, "", made, seconds, real=real)


def _as_it_takes(
    source: ModelSource,
    sent: list[BaseMessage],
    scope: Scope,
    offered: Collection[str],
    *,
    stop: Sequence[str],
    raw: RawCalls,
    attempts: int,
) -> Steps[tuple[AIMessage, int, bool]]:
    """Call the model as its server takes it: without `stop`, or without a stream of our own accord.

    Returns:
        Its reply, how often it was called, and whether it was read as a stream that nobody but the
        node wanted.
    """
    context = scope.context
    while True:
        stops = bool(stop) and source.takes_stop(context)
        streams = bool(stop and raw.cut) and not stops and source.may_stream(context)
        model, config, streams = _listening(source, scope, offered, stop, raw, streams=streams)
        try:
            reply, made = yield from _persistently(model, sent, config, attempts)
        except Exception as error:
            if stops and refuses_stop(error):
                source.leave_out_stop(context)
            elif streams and refuses_stream(error):
                source.leave_out_stream(context)
            else:
                raise
        else:
            return reply, made, streams


def _persistently(
    model: Bound, sent: list[BaseMessage], config: RunnableConfig, attempts: int
) -> Steps[tuple[AIMessage, int]]:
    """Call the model, and again where that helps; return its reply and how often it was called."""
    try:
        reply = yield Wait(lambda: model.invoke(sent, config), lambda: model.ainvoke(sent, config))
    except Exception as error:
        if attempts == 1:
            raise
        failed = [error]
    else:
        return reply, 1

    # The first failure is handed to tenacity as its first attempt, so that a call that goes well
    # costs none of it.
    def first() -> None:
        if failed:
            raise failed.pop()

    def again() -> AIMessage:
        first()
        return model.invoke(sent, config)

    async def aagain() -> AIMessage:
        first()
        return await model.ainvoke(sent, config)

    retrying, async_retrying = retry.retrying(attempts), retry.async_retrying(attempts)
    reply = yield Wait(lambda: retrying(again), lambda: async_retrying(aagain))
    statistics = retrying.statistics or async_retrying.statistics
    return reply, int(statistics.get("attempt_number", 1))


def _as_heard(reply: AIMessage, raw: RawCalls) -> AIMessage:
    """Return the reply as it came, where a guard redacted it on the way."""
    whole = raw.whole
    if isinstance(whole, AIMessage):
        names = ("tool_calls", "invalid_tool_calls", "additional_kwargs")
        came = {name: getattr(whole, name) for name in names}
        same = type(reply.content) is type(whole.content)
        return reply.model_copy(update={**came, **({"content": whole.content} if same else {})})
    if raw.said and isinstance(reply.content, str):
        return reply.model_copy(update={"content": "".join(raw.said)})
    return reply


def _listening(
    source: ModelSource,
    scope: Scope,
    offered: Collection[str],
    stop: Sequence[str],
    raw: RawCalls,
    *,
    streams: bool,
) -> tuple[Bound, RunnableConfig, bool]:
    """Return the model to ask and the config for it; where somebody listens, a guarded model.

    The pieces of a streamed reply alone hold arguments as they were written: the guard hands them
    over. A model that can't be guarded is heard by nobody. Whether it will be read as a stream
    though nobody listens is returned last.
    """
    model, config = source.bound(scope.context, offered, stop), scope.config
    callbacks = config.get("callbacks")
    listens = getattr(getattr(model, "bound", model), "streaming", False)
    heard_by = isinstance(callbacks, BaseCallbackManager) and (callbacks.handlers or listens)
    if not (heard_by or streams):
        return model, config, False
    guarded = source.guarded(scope.context, offered, stop, streams=streams)
    if guarded is not None:
        return guarded, config, streams
    return (model, {**config, "callbacks": [raw]} if heard_by else config, False)
