"""The page and what it asks for, as an ASGI application.

A request must name this machine as its host, and one that changes something must carry a header of
ours: so no page from elsewhere, open in the same browser, can read threads or answer for a person.
"""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from graphs.errors import UsageError
from graphs.memory import MemoryFileError, server_place
from graphs.web import answering, reading
from prompts import TemplateError
from tools import ToolsFileError
from tools.redact import redact
from tools.text import one_line

ROOT = "/rungs"
HEADER = "x-rungs"
STATIC = Path(__file__).with_name("static")
_TYPES = {
    "page.html": "text/html",
    "page.css": "text/css",
    **dict.fromkeys(("page.js", "text.js", "drawing.js"), "text/javascript"),
}
_LOCAL = {"127.0.0.1", "localhost", "[::1]", "::1"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:"
)

_log = logging.getLogger("rungs.web")

Handler = Callable[[Request], Awaitable[Response]]


def guarded(handler: Handler) -> Handler:
    """Let this machine alone in, and say in a line what is wrong with a request."""

    async def guard(request: Request) -> Response:
        if request.url.hostname not in _LOCAL:
            return _problem("this page is served to this machine alone", 403)
        if request.method == "POST" and request.headers.get(HEADER) != "1":
            return _problem(f"a request that changes something needs the header {HEADER}: 1", 403)
        try:
            return await handler(request)
        except (UsageError, MemoryFileError, ToolsFileError, TemplateError) as error:
            return _problem(str(error), 409)
        except Exception as error:  # noqa: BLE001 - whoever looks at the page reads a line, not a trace
            # As text: the trace of an exception as it is would hold what it quotes.
            trace = redact(traceback.format_exc())
            _log.error("the page could not answer %s\n%s", request.url.path, trace)
            why = one_line(redact(f"{type(error).__name__}: {error}"))
            return _problem(f"a defect of the page: {why}; the server's log has more", 500)

    return guard


def _problem(text: str, status: int) -> JSONResponse:
    return JSONResponse({"problem": text}, status_code=status)


def _db(request: Request) -> str:
    return getattr(request.app.state, "db", None) or server_place()


def _user(request: Request) -> str | None:
    return request.query_params.get("user") or None


async def _home(request: Request) -> Response:
    del request
    return RedirectResponse(f"{ROOT}/")


async def _static(request: Request) -> Response:
    name = request.path_params.get("name") or "page.html"
    if name not in _TYPES:
        return _problem(f"there is no {name} here", 404)
    headers = {"content-security-policy": _POLICY, "cache-control": "no-store"}
    return FileResponse(STATIC / name, media_type=_TYPES[name], headers=headers)


async def _threads(request: Request) -> Response:
    return JSONResponse(await asyncio.to_thread(reading.threads_of, _db(request), _user(request)))


async def _thread(request: Request) -> Response:
    thread_id = request.path_params["thread_id"]
    told = await asyncio.to_thread(reading.thread_of, _db(request), thread_id, _user(request))
    return JSONResponse(told)


async def _prompt(request: Request) -> Response:
    reply = request.query_params.get("reply", "")
    place = (request.path_params["thread_id"], _user(request), reply)
    sent = await asyncio.to_thread(reading.prompt_before, _db(request), *place)
    if sent is None:
        return _problem(f"the thread has no reply {reply}", 404)
    return JSONResponse(sent)


async def _answer(request: Request) -> Response:
    try:
        body: Any = await request.json()
    except ValueError:
        return _problem("the answer is no JSON", 400)
    decisions = body.get("decisions") if isinstance(body, dict) else None
    thread_id = request.path_params["thread_id"]
    await asyncio.to_thread(answering.answer, _db(request), thread_id, _user(request), decisions)
    return await _thread(request)


def create_app(db: str | None = None) -> Starlette:
    """Make the application.

    Args:
        db: The memory file; None takes the one of the settings, when it is asked.
    """
    api = f"{ROOT}/api"
    thread = (
        "{thread_id:path}"  # an id may have slashes; what is asked of it stands where none ends
    )
    app = Starlette(
        routes=[
            Route(ROOT, guarded(_home)),
            Route(f"{ROOT}/", guarded(_static)),
            Route(f"{ROOT}/{{name}}", guarded(_static)),
            Route(f"{api}/threads", guarded(_threads)),
            Route(f"{api}/threads/{thread}", guarded(_thread)),
            Route(f"{api}/prompts/{thread}", guarded(_prompt)),
            Route(f"{api}/threads/{thread}/answer", guarded(_answer), methods=["POST"]),
        ]
    )
    app.state.db = db
    return app


app = create_app()
