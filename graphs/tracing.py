"""OpenTelemetry spans by the GenAI conventions: each run, model call and tool call.

They are made of the audit events, so that they tell what the log tells, redacted alike; with
tracing off nothing of it is imported. `RUNGS_OTEL=1` turns it on for a process, `trace_runs` from
Python. The names are those of the conventions' version 1.37, which are not yet stable.
"""

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphs.errors import UsageError

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

VARIABLE = "RUNGS_OTEL"
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""Where this is `true`, spans of tools hold their arguments and results too, as others do it."""

_NANOSECONDS = 1_000_000_000


class SpanHandler(logging.Handler):
    """Makes a span of each audit event, within that of its run."""

    def __init__(self, tracer: "Tracer") -> None:
        super().__init__(logging.INFO)
        self._tracer = tracer
        self._runs: dict[str, tuple[Span, str | None]] = {}

    @contextmanager
    def run(self, graph: str, thread_id: str, model: str | None) -> Iterator[None]:
        """Make the span of a run: the parent of all that is logged of its thread meanwhile.

        Args:
            graph: The graph's name.
            thread_id: Its thread.
            model: The model as `provider:name`; None where the graph was built with one.
        """
        from opentelemetry.trace import SpanKind

        provider = model.partition(":")[0] if model else None
        about = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": graph,
            "gen_ai.conversation.id": thread_id,
            **({"gen_ai.provider.name": provider} if provider else {}),
        }
        span = self._tracer.start_span(
            f"invoke_agent {graph}", kind=SpanKind.INTERNAL, attributes=about
        )
        self._runs[thread_id] = (span, provider)
        try:
            yield
        except Exception as error:
            _fail(span, type(error).__name__)
            raise
        finally:
            self._runs.pop(thread_id, None)
            span.end()

    def emit(self, record: logging.LogRecord) -> None:
        """Make a span that ends now and began as long ago as the event tells."""
        try:
            self._span(json.loads(record.getMessage()), record.created)
        except Exception:  # noqa: BLE001 - a log that can't be told is no reason to stop a run
            self.handleError(record)

    def _span(self, event: Mapping[str, Any], ended: float) -> None:
        from opentelemetry.trace import SpanKind, set_span_in_context

        run, provider = self._runs.get(event.get("thread") or "", (None, None))
        name, about = _told(event)
        if provider and event["kind"] == "model_call":
            about["gen_ai.provider.name"] = provider
        end = int(ended * _NANOSECONDS)
        span = self._tracer.start_span(
            name,
            context=None if run is None else set_span_in_context(run),
            kind=SpanKind.CLIENT if event["kind"] == "model_call" else SpanKind.INTERNAL,
            attributes={key: value for key, value in about.items() if value is not None},
            start_time=end - int((event.get("seconds") or 0) * _NANOSECONDS),
        )
        if event["status"] == "error":
            _fail(span, event.get("code") or "error")
        span.end(end)


def trace_runs(provider: "TracerProvider | None" = None) -> SpanHandler:
    """Make spans of all that runs from now on in this process; a second call changes nothing.

    Args:
        provider: Where the spans go. None takes the process's own; where it has none, one that
            exports by OTLP over HTTP, as the `OTEL_*` variables say.

    Returns:
        The handler of the logger `rungs.audit`; take it off the logger to end tracing.

    Raises:
        UsageError: The extra `otel` is not installed.
    """
    logger = logging.getLogger("rungs.audit")
    if handler := tracing():
        return handler
    try:
        handler = SpanHandler((provider or _own_provider()).get_tracer("rungs"))
    except ImportError:
        raise UsageError(
            'spans need OpenTelemetry: pip install -e ".[otel]", or take RUNGS_OTEL away'
        ) from None
    logger.addHandler(handler)
    if not logger.isEnabledFor(logging.INFO):
        logger.setLevel(logging.INFO)
    return handler


def tracing() -> SpanHandler | None:
    """Return the handler that makes spans, where it is on."""
    handlers = logging.getLogger("rungs.audit").handlers
    return next((handler for handler in handlers if isinstance(handler, SpanHandler)), None)


def trace_by_environment() -> None:
    """Turn tracing on where `RUNGS_OTEL` says so."""
    if os.environ.get(VARIABLE, "").strip().lower() in {"1", "true", "yes", "on"}:
        trace_runs()


def _own_provider() -> "TracerProvider":
    from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider, set_tracer_provider

    provider = get_tracer_provider()
    if not isinstance(provider, ProxyTracerProvider):
        return provider
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = {} if "OTEL_SERVICE_NAME" in os.environ else {SERVICE_NAME: "rungs"}
    own = TracerProvider(resource=Resource.create(name))
    own.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    set_tracer_provider(own)
    return own


def _told(event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a span's name and attributes."""
    about = {"gen_ai.conversation.id": event.get("thread"), "rungs.step": event["step"]}
    if event["kind"] == "model_call":
        model = event.get("model")
        return f"chat {model or 'unknown'}", about | {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": model,
            "gen_ai.usage.input_tokens": event.get("input_tokens"),
            "gen_ai.usage.output_tokens": event.get("output_tokens"),
        }
    if event["kind"] == "tool_call":
        held = {
            "gen_ai.tool.call.arguments": json.dumps(event.get("arguments"), default=str),
            "gen_ai.tool.call.result": event.get("result"),
        }
        return f"execute_tool {event['tool']}", about | {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event["tool"],
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": event.get("call_id"),
            **(held if os.environ.get(CONTENT, "").strip().lower() == "true" else {}),
        }
    numbers = {f"rungs.{name}": event.get(name) for name in ("tokens_before", "tokens_after")}
    return str(event["kind"]), about | numbers


def _fail(span: "Span", kind: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))
