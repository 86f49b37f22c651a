"""An MCP server over stdio that does what a file tells it, good or bad; run as a process.

It is no SDK's: it lists tools as they come in the wild, which an SDK would not let pass, and starts
in no time. `python mcp_stub.py FILE`; the file is JSON: `tools`, as `tools/list` returns them, and
`answers` by tool name: a result as it goes out, or `exit` (a code), `hang` (seconds), `stuck`
(seconds in which it hears nothing), `error` (a protocol error) or `raw` (a line); with `progress`,
a list of what is told before. What it receives goes to FILE.log, a line of JSON each.
"""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

_lock = threading.Lock()


def main() -> None:
    place = Path(sys.argv[1])
    script = json.loads(place.read_text(encoding="utf-8"))
    time.sleep(script.get("slow_start", 0))
    log = Path(f"{place}.log").open("a", encoding="utf-8")  # noqa: SIM115 - as long as the process
    note(log, {"method": "started", "pid": os.getpid(), "env": sorted(os.environ)})
    if script.get("banner"):
        write(script["banner"])
    if script.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        message = json.loads(line)
        note(log, message)
        if "id" in message and "method" in message:
            answer(message, json.loads(place.read_text(encoding="utf-8")))
    while script.get("stubborn"):
        time.sleep(1)


def answer(message: dict[str, Any], script: dict[str, Any]) -> None:
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        reply(message, {**HELLO, "protocolVersion": params["protocolVersion"]})
    elif method == "tools/list":
        if "list_error" in script:
            fail(message, script["list_error"])
        elif "list_hang" not in script:
            reply(message, page(script["tools"], script.get("page_size"), params.get("cursor")))
    elif method == "tools/call":
        call(message, params, script["answers"].get(params["name"], {}))
    else:
        reply(message, {})


HELLO = {
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "stub", "version": "1"},
}


def page(tools: list[Any], size: int | None, cursor: str | None) -> dict[str, Any]:
    start = int(cursor or 0)
    if size is None or start + size >= len(tools):
        return {"tools": tools[start:]}
    return {"tools": tools[start : start + size], "nextCursor": str(start + size)}


def call(message: dict[str, Any], params: dict[str, Any], wanted: dict[str, Any]) -> None:
    for told in wanted.get("progress", ()):
        about = {"progressToken": (params.get("_meta") or {}).get("progressToken"), **told}
        notice = {"method": "notifications/progress", "params": about}
        write(json.dumps({"jsonrpc": "2.0", **notice}))
        time.sleep(wanted.get("apart", 0))
    if "exit" in wanted:
        sys.stderr.write(wanted.get("last_words", ""))
        sys.stderr.flush()
        os._exit(wanted["exit"])
    if "raw" in wanted:
        write(wanted["raw"])
    elif "error" in wanted:
        fail(message, wanted["error"])
    elif "stuck" in wanted:
        time.sleep(wanted["stuck"])
    elif "hang" in wanted:
        late = threading.Timer(wanted["hang"], reply, [message, text("late")])
        late.daemon = True
        late.start()
    else:
        if "changed" in wanted:
            write(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        echo = json.dumps(params.get("arguments"), sort_keys=True, ensure_ascii=False)
        reply(message, wanted if "content" in wanted else text(f"{params['name']}: {echo}"))


def text(said: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}]}


def reply(message: dict[str, Any], result: dict[str, Any]) -> None:
    write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))


def fail(message: dict[str, Any], said: str) -> None:
    error = {"code": -32602, "message": said}
    write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}))


def write(line: str) -> None:
    with _lock, contextlib.suppress(OSError, ValueError):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def note(log: Any, message: dict[str, Any]) -> None:
    log.write(f"{json.dumps(message)}\n")
    log.flush()


if __name__ == "__main__":
    main()
