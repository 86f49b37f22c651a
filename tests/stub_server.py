"""An OpenAI-compatible server on loopback that sends scripted HTTP replies and records requests.

Run as a module, it serves an endless tool-calling model for the benchmarks:
`python -m tests.stub_server ROUNDS` prints its base URL.
"""

from __future__ import annotations

import atexit
import functools
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP reply: `body` (bytes, text or JSON data), or `events` sent as an SSE stream."""

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    events: Sequence[Any] | None = None

    def content(self) -> tuple[str, bytes]:
        """Return the content type and the bytes."""
        if self.events is not None:
            lines = [e if isinstance(e, str) else json.dumps(e) for e in self.events]
            return "text/event-stream", "".join(f"data: {line}\n\n" for line in lines).encode()
        if isinstance(self.body, bytes):
            return "text/plain", self.body
        if isinstance(self.body, str):
            return "text/html", self.body.encode()
        return "application/json", json.dumps(self.body).encode()


def call(name: str, arguments: Any, call_id: str | None = "c1") -> dict[str, Any]:
    """Make one entry of `tool_calls`; `arguments` is sent as it is."""
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def completion(
    content: Any = None,
    *,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    finish: str | None = None,
    usage: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Make the body of a chat completion; `more` adds to, or replaces, its top-level fields."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if tool_calls:
        message["tool_calls"] = list(tool_calls)
    reason = finish or ("tool_calls" if tool_calls else "stop")
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub-1",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
    }
    if usage is not None:
        body["usage"] = dict(usage)
    return {**body, **more}


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """Make one streamed chunk whose delta holds `fields`."""
    choice = {"index": 0, "delta": fields, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "stub-1",
        "choices": [choice],
    }


def stream(*chunks: Any, usage: Mapping[str, Any] | None = None) -> Reply:
    """Make an SSE reply of the chunks, the usage chunk if any, and `[DONE]`."""
    events = list(chunks)
    if usage is not None:
        events.append({**delta(), "choices": [], "usage": dict(usage)})
    return Reply(events=[*events, "[DONE]"])


USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}

Script = Callable[[Recorded], Any] | Iterable[Any]


class StubServer:
    """Serve the replies in order (the last one again and again), or what a function returns."""

    def __init__(self, script: Script = ()) -> None:
        self.play(script)
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    def play(self, script: Script) -> None:
        """Start another script, with nothing recorded."""
        self._answer: Callable[[Recorded], Any] | None = script if callable(script) else None
        self._replies: list[Any] = [] if callable(script) else list(script)
        self.requests: list[Recorded] = []
        self.hung_up = threading.Event()  # a client closed before all of a reply was sent

    @property
    def base_url(self) -> str:
        """Return what goes into `OPENAI_BASE_URL`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def reply_to(self, request: Recorded) -> Reply:
        """Record the request and take the next reply."""
        self.requests.append(request)
        if self._answer is not None:
            reply = self._answer(request)
        else:
            reply = self._replies[min(len(self.requests), len(self._replies)) - 1]
        return reply if isinstance(reply, Reply) else Reply(reply)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.close_connections()
        self._server.server_close()
        self._thread.join()

    def serve_forever(self) -> None:
        """Serve in this thread, for use as a process of its own."""
        self._server.serve_forever()


@functools.cache
def _shared() -> StubServer:
    server = StubServer()
    server.__enter__()
    atexit.register(server.__exit__, None, None, None)
    return server


@contextmanager
def serving(script: Script) -> Iterator[StubServer]:
    """Play a script on the one server of this process, so that models and connections last."""
    server = _shared()
    server.play(script)
    yield server
    server.play(())


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._connections: list[socket.socket] = []
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.append(request)
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that hang up."""

    def close_connections(self) -> None:
        for connection in self._connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


def _handler(stub: StubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            recorded = Recorded(self.command, self.path, dict(self.headers.items()), body)
            reply = stub.reply_to(recorded)
            content_type, data = reply.content()
            self.send_response(reply.status)
            for name, value in {"Content-Type": content_type, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            try:
                self.wfile.write(data)
            except OSError:
                stub.hung_up.set()
                raise

        def date_time_string(self, timestamp: float | None = None) -> str:
            """Tell the same time in every reply, so that two of them can be compared."""
            return super().date_time_string(timestamp or 0.0)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its signature
            """Keep quiet."""

    return Handler


def tool_rounds(rounds: int) -> Callable[[Recorded], Any]:
    """Answer with a calculator call until the request holds `rounds` tool results, then in text."""

    def answer(request: Recorded) -> Any:
        done = request.body.count(b'"role":"tool"')
        if done >= rounds:
            return completion("Done.", usage=USAGE)
        arguments = json.dumps({"expression": f"{done} + 1"})
        calls = [call("calculator", arguments, f"call_{done:05d}")]
        return completion(tool_calls=calls, usage=USAGE)

    return answer


if __name__ == "__main__":
    server = StubServer(tool_rounds(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
    print(server.base_url, flush=True)  # noqa: T201 - how the benchmark learns the address
    server.serve_forever()
