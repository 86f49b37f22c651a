"""OpenTelemetry spans: a run, its model calls and tool calls, by the GenAI conventions."""

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from graphs import UsageError, open_graph
from graphs.models import ScriptedModel
from graphs.tracing import CONTENT, SpanHandler, trace_by_environment, trace_runs, tracing
from tests.cli import REFUND
from tests.stub_server import Reply, StubServer
from tests.support import MODES, Mode, run
from tools import contract

LOGGER = logging.getLogger("rungs.audit")


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    monkeypatch.delenv(CONTENT, raising=False)
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    level = LOGGER.level
    handler = trace_runs(provider)
    yield exporter
    LOGGER.removeHandler(handler)
    LOGGER.setLevel(level)


def by_name(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


def asked(mode: Mode, db: Path, *tools: Any, replies: Any = REFUND) -> Any:
    model = ScriptedModel(replies=replies)
    with open_graph("tools_in_context", db=db, model=model, tools=[*tools]) as graph:
        return run(mode, graph, "?")


def calculator(expression: str) -> str:
    """Work it out.

    Args:
        expression: What.
    """
    return f"232 password=hunter2-{len(expression)}"


@pytest.mark.parametrize("mode", MODES)
def test_a_run_is_a_span_and_its_calls_are_spans_within_it(
    mode: Mode, spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    asked(mode, tmp_path / "r.sqlite", contract(calculator, effect="read_only"))
    made = spans.get_finished_spans()
    assert [span.name.split()[0] for span in made] == [
        "chat",
        "execute_tool",
        "chat",
        "invoke_agent",
    ]
    root = by_name(spans)["invoke_agent tools_in_context"]
    assert root.parent is None
    assert root.context is not None
    for span in made[:-1]:
        assert span.parent is not None
        assert span.parent.span_id == root.context.span_id
        assert root.start_time is not None
        assert span.start_time is not None
        assert span.end_time is not None
        assert root.start_time <= span.start_time <= span.end_time
    told = by_name(spans)["execute_tool calculator"].attributes or {}
    assert told["gen_ai.operation.name"] == "execute_tool"
    assert told["gen_ai.tool.name"] == "calculator"
    assert told["gen_ai.tool.call.id"] == "c1"
    assert told["gen_ai.conversation.id"] == (root.attributes or {})["gen_ai.conversation.id"]
    assert "gen_ai.tool.call.result" not in told


def test_tokens_and_the_provider_are_told_where_they_are_known(
    spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    reply = {"text": "Yes.", "usage": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}}
    asked("invoke", tmp_path / "r.sqlite", replies=[reply])
    told = spans.get_finished_spans()[0].attributes or {}
    assert told["gen_ai.usage.input_tokens"] == 7
    assert told["gen_ai.usage.output_tokens"] == 2
    assert "gen_ai.provider.name" not in told
    spans.clear()
    with open_graph("tools_in_context", db=tmp_path / "r.sqlite", tools=[]) as graph:
        run("invoke", graph, "?", context={"model": "offline"})
    for span in spans.get_finished_spans():
        assert (span.attributes or {})["gen_ai.provider.name"] == "offline"


def test_contents_are_told_where_it_is_asked_for_and_redacted_as_in_the_log(
    spans: InMemorySpanExporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONTENT, "true")
    asked("invoke", tmp_path / "r.sqlite", contract(calculator, effect="read_only"))
    told = by_name(spans)["execute_tool calculator"].attributes or {}
    assert told["gen_ai.tool.call.arguments"] == '{"expression": "240*29/30"}'
    assert told["gen_ai.tool.call.result"] == "232 password=[redacted]"
    everything = str([span.to_json() for span in spans.get_finished_spans()])
    assert "hunter2" not in everything


@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_fails_is_a_span_with_an_error(
    mode: Mode, spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    def broken(expression: str) -> str:
        """Fail.

        Args:
            expression: What.
        """
        raise OSError(expression)

    asked(mode, tmp_path / "r.sqlite", contract(broken, effect="read_only", name="calculator"))
    span = by_name(spans)["execute_tool calculator"]
    assert not span.status.is_ok
    assert (span.attributes or {})["error.type"]
    assert by_name(spans)["invoke_agent tools_in_context"].status.is_unset


def test_a_run_that_is_refused_leaves_an_error_and_the_next_one_is_its_own(
    spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    with (
        open_graph("tools_in_context", db=tmp_path / "r.sqlite", model="offline") as graph,
        pytest.raises(UsageError),
    ):
        graph.invoke(Command(resume=1), {"configurable": {"thread_id": "t"}})
    (span,) = spans.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "UsageError"
    asked("invoke", tmp_path / "r.sqlite", replies=["Yes."])
    runs = [span for span in spans.get_finished_spans() if span.name.startswith("invoke_agent")]
    assert len({span.context.trace_id for span in runs if span.context}) == 2


def test_it_is_on_where_the_environment_says_so_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNGS_OTEL", "0")
    trace_by_environment()
    assert tracing() is None
    monkeypatch.setenv("RUNGS_OTEL", "1")
    provider = TracerProvider()
    monkeypatch.setattr("graphs.tracing._own_provider", lambda: provider)
    level = LOGGER.level
    try:
        trace_by_environment()
        trace_by_environment()
        assert [isinstance(handler, SpanHandler) for handler in LOGGER.handlers].count(True) == 1
    finally:
        LOGGER.removeHandler(tracing() or logging.NullHandler())
        LOGGER.setLevel(level)


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> TracerProvider:
        raise ImportError

    monkeypatch.setattr("graphs.tracing._own_provider", missing)
    with pytest.raises(UsageError, match=r"pip install -e \"\.\[otel\]\""):
        trace_runs()
    assert tracing() is None


@pytest.mark.processes
@pytest.mark.enable_socket
def test_a_command_exports_its_spans_to_the_collector_that_the_environment_names(
    tmp_path: Path,
) -> None:
    with StubServer([Reply(b"")]) as collector:
        said = subprocess.run(
            [sys.executable, "-m", "graphs.cli", "ask", "What is 1+1?", "--db", "r.sqlite"],
            cwd=tmp_path,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(tmp_path),
                "PYTHONPATH": str(Path(__file__).parents[1]),
                "RUNGS_OTEL": "1",
                "OTEL_EXPORTER_OTLP_ENDPOINT": collector.base_url.removesuffix("/v1"),
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert said.returncode == 0, said.stderr
        assert said.stderr == ""
        sent = b"".join(request.body for request in collector.requests)
    assert {request.path for request in collector.requests} == {"/v1/traces"}
    for name in (b"invoke_agent tools_in_context", b"chat offline", b"execute_tool calculator"):
        assert name in sent
