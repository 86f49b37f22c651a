"""Serve the project's own page on the loopback interface, until Ctrl-C."""

import socket
import sys
from urllib.parse import quote

from graphs.cli.screen import Screen
from graphs.cli.settings import existing_db
from graphs.errors import UsageError
from graphs.memory import open_memory
from graphs.threads import get_thread

HOST = "127.0.0.1"


def serve_page(thread_id: str | None, db: str, user: str | None, port: int, screen: Screen) -> None:
    """Serve the page, opened at a thread.

    Args:
        thread_id: The thread to show first; None shows the list.
        db: The memory file.
        user: Whose threads.
        port: Where; 0 takes any free port.
        screen: Where the address is told.

    Raises:
        UsageError: There is no such thread, it is another user's, the port is taken, or what serves
            the page is not installed.
    """
    db = existing_db(db)
    if thread_id is not None:
        with open_memory(db) as memory:
            get_thread(memory, thread_id, user)
    try:
        import uvicorn

        from graphs.web.app import create_app
    except ImportError:
        raise UsageError(
            "the page needs the extra: pip install -e '.[view]' (`make test` has it too)"
        ) from None
    listening = _listen(port)
    query = f"?user={quote(user)}" if user else ""
    place = f"#{quote(thread_id)}" if thread_id else ""
    address = f"http://{HOST}:{listening.getsockname()[1]}/rungs/{query}{place}"
    screen.text(address, always=True)
    screen.text("Ctrl-C stops it", "dim")
    sys.stdout.flush()  # whoever reads it through a pipe waits for it
    config = uvicorn.Config(create_app(db), log_level="warning", timeout_graceful_shutdown=3)
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    """Take the port before the address is told: another program may have it."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        raise UsageError(
            f"port {port} can't be used ({(error.strerror or str(error)).lower()}): name another "
            "with --port, or leave it out for any free one"
        ) from None
    listening.listen(128)
    return listening
