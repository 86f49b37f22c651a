"""An OpenAI-compatible server in its own process: calls `look` some rounds, then answers.

python -m benchmarks.rounds_server ROUNDS    # prints its port, and ends with its standard input
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    rounds = 0

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = json.dumps(self._reply(body.count(b'"role":"tool"'))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _reply(self, done: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "Done."}
        if done < self.rounds:
            function = {"name": "look", "arguments": json.dumps({"query": f"number {done}"})}
            call = {"id": f"call_{done}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        reason = "tool_calls" if done < self.rounds else "stop"
        return {
            "id": f"chatcmpl-{done}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "stub",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


def _serve(rounds: int) -> None:
    _Handler.rounds = rounds
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


@contextmanager
def rounds_server(rounds: int) -> Iterator[str]:
    """Start the server and yield its base URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.rounds_server", str(rounds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
