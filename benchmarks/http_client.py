"""CPU of a model call over HTTP, a round of a tool-calling conversation, by client.

    python -m benchmarks.http_client [--rounds 5 20 60] [--repeat 7] [--result-characters 10]

A stub server in a process of its own answers each request with a tool call. The clients take turns
in one process, and only this process's CPU is counted, so that noise meets all alike: read the
ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

TOOL = {
    "type": "function",
    "function": {
        "name": "calculator",
        "description": "exact arithmetic",
        "parameters": {
            "type": "object",
            "properties": {"expression": {"type": "string"}},
            "required": ["expression"],
            "additionalProperties": False,
        },
    },
}
SYSTEM = "You are a support assistant."
QUESTION = "What is 240*29/30?"

Conversation = Callable[[], int]
"""Runs one conversation and returns the number of model calls."""


@contextmanager
def server(rounds: int) -> Iterator[str]:
    """Serve `rounds` tool calls and an answer; yields the base URL."""
    root = Path(__file__).parents[1]
    command = [sys.executable, "-m", "tests.stub_server", str(rounds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def bare(base_url: str, result: str) -> Conversation:
    """Talk through the `openai` client alone, on dicts."""
    from openai import OpenAI

    client = OpenAI(base_url=base_url, api_key="none", max_retries=0)

    def run() -> int:
        messages: list[Any] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": QUESTION},
        ]
        calls = 0
        while True:
            tools: Any = [TOOL]
            reply = client.chat.completions.create(model="m", messages=messages, tools=tools)
            message = reply.choices[0].message
            calls += 1
            if not message.tool_calls:
                return calls
            messages.append(message.model_dump(exclude_none=True))
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": result}
                for call in message.tool_calls
            ]

    return run


def langchain(model: Any, result: str, *, asynchronous: bool = False) -> Conversation:
    """Talk through a LangChain chat model, on messages."""
    from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage

    bound = model.bind_tools([TOOL])
    loop = asyncio.new_event_loop() if asynchronous else None

    def run() -> int:
        messages: list[BaseMessage] = [SystemMessage(SYSTEM), HumanMessage(QUESTION)]
        calls = 0
        while True:
            if loop is None:
                reply = bound.invoke(messages)
            else:
                reply = loop.run_until_complete(bound.ainvoke(messages))
            calls += 1
            messages.append(reply)
            if not reply.tool_calls:
                return calls
            messages += [ToolMessage(result, tool_call_id=c["id"]) for c in reply.tool_calls]

    return run


def measure(clients: dict[str, Conversation], repeat: int) -> dict[str, float]:
    """Return the median CPU milliseconds a model call, the clients taking turns."""
    for run in clients.values():
        run()
    spent: dict[str, list[float]] = {name: [] for name in clients}
    for _ in range(repeat):
        for name, run in clients.items():
            started = time.process_time()
            calls = run()
            spent[name].append(1000 * (time.process_time() - started) / calls)
    return {name: median(times) for name, times in spent.items()}


def main() -> None:
    """Print one table, and one JSON object a line with `--json`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, nargs="+", default=[5, 20, 60])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--result-characters", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    from langchain_openai import ChatOpenAI

    from graphs.models.openai import RungsChatOpenAI

    result = "x" * options.result_characters
    if not options.json:
        print(f"CPU ms a model call, results of {len(result):,} characters (ratio to ChatOpenAI)")
    for rounds in options.rounds:
        with server(rounds) as base_url:
            settings: Any = {"model": "m", "base_url": base_url, "api_key": "none"}
            stock = ChatOpenAI(**settings, max_retries=0)
            ours = RungsChatOpenAI(**settings)
            clients = {
                "ChatOpenAI": langchain(stock, result),
                "openai client": bare(base_url, result),
                "ours": langchain(ours, result),
                "ChatOpenAI, async": langchain(stock, result, asynchronous=True),
                "ours, async": langchain(ours, result, asynchronous=True),
            }
            times = measure(clients, options.repeat)
        ratios = {name: times[name] / times["ChatOpenAI"] for name in times}
        if options.json:
            print(json.dumps({"rounds": rounds, "ms": times, "ratio": ratios}))
            continue
        shown = [f"{name} {times[name]:.2f} ({ratios[name]:.2f})" for name in times]
        print(f"{rounds:3d} rounds: " + "; ".join(shown))


if __name__ == "__main__":
    main()
