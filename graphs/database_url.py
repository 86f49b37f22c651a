"""The URL of a Postgres database: read once, and shown without its password."""

import os
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from graphs.errors import UsageError

EXAMPLE = "postgresql://user:password@host/database"
CONNECT_SECONDS = 10
"""How long a server may take to answer, unless the URL has a `connect_timeout` of its own."""

_URL = re.compile(r"\s*postgres(ql)?(\+\w+)?:", re.IGNORECASE)
_FORM = re.compile(r"postgres(ql)?://", re.IGNORECASE)


VARIABLE = "RUNGS_DATABASE_URL"
"""The environment's variable that names a database in the place of every memory file."""


class DatabaseError(UsageError):
    """A database that can't serve as memory: which and what to do in a line, without passwords."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is.

    Attributes:
        settings: What psycopg connects with; holds the password, and is never shown.
        shown: The URL without its password and without what follows a question mark.
        host: The server.
        database: Its database.
        password: What no message may hold.
    """

    settings: dict[str, Any] = field(repr=False)
    shown: str
    host: str
    database: str | None
    password: str | None = field(repr=False)


def default_place(file: str) -> str:
    """Return where memory is unless a caller says so: the database of the environment, or a file.

    Raises:
        DatabaseError: The environment names something else than a database.
    """
    url = os.environ.get(VARIABLE, "").strip()
    if url and not is_url(url):
        raise DatabaseError(f"{VARIABLE} names no database: write it as {EXAMPLE}, or unset it")
    return url or file


def driver() -> Any:
    """Return psycopg.

    Raises:
        DatabaseError: It is not installed, or something else that a database needs is not.
    """
    try:
        import langgraph.checkpoint.postgres
        import psycopg
        import psycopg_pool
    except ImportError:
        raise DatabaseError(
            "a database URL needs the extra postgres: pip install -e '.[postgres]'"
        ) from None
    del langgraph, psycopg_pool
    return psycopg


def is_url(place: object) -> bool:
    """Tell whether a memory's place is a database's URL, well-formed or not, and no file."""
    return isinstance(place, str) and _URL.match(place) is not None


def read_url(url: str) -> Address:
    """Read a URL as libpq does; a password with a letter that ends it early is told, not sent.

    Raises:
        DatabaseError: It is no URL of Postgres; nothing of it is quoted.
    """
    text = url.strip()
    if not _FORM.match(text):
        raise DatabaseError(f"a database URL begins with postgresql:// such as {EXAMPLE}")
    psycopg = driver()
    try:
        parts = urlsplit(text)
        settings: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(text)
    except (ValueError, psycopg.Error):
        raise _misspelled() from None
    port = str(settings.get("port") or "")
    if not re.fullmatch(r"[\d,]*", port):
        raise _misspelled()
    if text.count("@") > parts.netloc.count("@") or parts.netloc.count("@") > 1 or parts.fragment:
        raise _misspelled()
    password = settings.get("password")
    host = str(settings.get("host") or "localhost")
    port = f":{port}" if port else ""
    user = f"{settings['user']}@" if settings.get("user") else ""
    database = settings.get("dbname") or settings.get("user")
    settings.setdefault("connect_timeout", CONNECT_SECONDS)
    settings.setdefault("application_name", "rungs")
    settings.setdefault("client_encoding", "UTF8")
    shown = f"postgresql://{user}{host}{port}/{database or ''}"
    return Address(settings, shown, host, database, str(password) if password else None)


def shown(place: str) -> str:
    """Return a memory's place as it may be told; of a URL nothing that could be a password."""
    if not is_url(place):
        return place
    try:
        parts = urlsplit(place.strip())
        if place.count("@") > 1 or "@" in f"{parts.path}{parts.query}{parts.fragment}":
            return "the database"
        user = f"{unquote(parts.username)}@" if parts.username else ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the database"
    return f"postgresql://{user}{parts.hostname or ''}{port}{parts.path}"


def _misspelled() -> DatabaseError:
    return DatabaseError(
        f"the database URL can't be read: write it as {EXAMPLE}, and in user and password "
        "%40 for @, %3A for :, %2F for /, %3F for ?, %23 for #, %25 for %"
    )
