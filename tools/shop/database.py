"""The shop's file: where it is, how it comes to be, and transactions on it.

* Whoever comes first makes and fills it in one transaction: it is there whole, or not at all.
* Each use has a connection of its own, so that threads and processes share nothing but the file.
* What is no shop of ours is left as it is.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from tools.shop import seed, service
from tools.shop.errors import ShopError

APPLICATION_ID: Final = 0x52_53_48_50
"""Marks a file as a shop (`PRAGMA application_id`): the letters RSHP."""

LAYOUT: Final = 2
"""Layout of the file (`PRAGMA user_version`); one of layout 1 is brought up to it."""

BUSY_SECONDS: Final = 5.0
"""How long a transaction waits for another's: less than a tool may take by default."""

_SMALLEST = 512  # bytes of SQLite's smallest page: it takes less for an empty file


def shop_file() -> Path:
    """Return the file that `RUNGS_SHOP` names, or `rungs/shop.sqlite` in the user's data directory.

    Raises:
        ShopError: There is no home folder to find it in.
    """
    try:
        if named := os.environ.get("RUNGS_SHOP", "").strip():
            return Path(named).expanduser().absolute()
        data = Path(os.environ.get("XDG_DATA_HOME", ""))
        if not data.is_absolute():  # the XDG rules: a relative path is to be ignored
            data = Path.home() / ".local" / "share"
    except RuntimeError:
        raise ShopError("no home folder is known: name the shop's file by RUNGS_SHOP") from None
    return data / "rungs" / "shop.sqlite"


@contextmanager
def reading() -> Iterator[sqlite3.Connection]:
    """Yield a connection that sees the shop as it is at its first query, until the end."""
    with _transaction("BEGIN") as connection:
        yield connection


@contextmanager
def changing() -> Iterator[sqlite3.Connection]:
    """Yield a connection on which nobody else writes; what it did is kept unless it raises."""
    with _transaction("BEGIN IMMEDIATE") as connection:
        yield connection


@contextmanager
def _transaction(begin: str) -> Iterator[sqlite3.Connection]:
    """Open the shop for one transaction, which closing the connection would roll back.

    Raises:
        ShopError: The file can't be used; its path and the reason in one line.
    """
    file = shop_file()
    try:
        _make_room(file)
        with closing(_connect(file)) as connection:
            _check(file, connection)
            connection.execute(begin)
            yield connection
            connection.execute("COMMIT")
    except (OSError, sqlite3.Error) as error:
        raise _refusal(file, error) from error


def _make_room(file: Path) -> None:
    """Create a missing file for its owner alone, before SQLite could create it for everybody.

    A file that is there is never opened by hand: closing it would drop the locks that other
    threads' connections hold on it.
    """
    if file.is_file():
        if 0 < file.stat().st_size < _SMALLEST:
            raise sqlite3.DatabaseError("file is not a database")
        return
    if file.is_dir():
        raise ShopError(f"{file} is a folder: name a file in it by RUNGS_SHOP")
    if not os.environ.get("RUNGS_SHOP", "").strip():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):  # another process was first
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{file.as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )
    connection.row_factory = sqlite3.Row
    return connection


def _check(file: Path, connection: sqlite3.Connection) -> None:
    """Make sure that the file is a shop, make one of an empty file, and bring an old one up."""
    if _layout(file, connection) < LAYOUT:
        file.chmod(0o600)  # an empty file may be anybody's
        connection.execute("BEGIN IMMEDIATE")
        layout = _layout(file, connection)
        if not layout:
            seed.fill(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        if layout < LAYOUT:
            service.fill(connection)
            connection.execute(f"PRAGMA user_version = {LAYOUT}")
        connection.execute("COMMIT")
    connection.execute("PRAGMA foreign_keys = ON")
    # The switch needs the file for itself. Where others hold it, a later use switches: until then
    # readers wait for a writer, and nothing else is different.
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_mode = WAL")


def _layout(file: Path, connection: sqlite3.Connection) -> int:
    """Return the layout of a shop's file, 0 for an empty file."""
    # One statement sees one moment: another process may be filling the file just now.
    application, layout, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application == APPLICATION_ID and layout <= LAYOUT:
        return int(layout)
    if application == APPLICATION_ID:
        raise ShopError(f"{file} was written by a newer version of rungs: update rungs")
    if application or layout or tables:
        raise ShopError(
            f"{file} is another application's database: name another file by RUNGS_SHOP"
        )
    return 0


def _refusal(file: Path, error: OSError | sqlite3.Error) -> ShopError:
    reason = " ".join(str(getattr(error, "strerror", None) or error).lower().split())
    if "not a database" in reason:
        reason = "is not a SQLite database"
    elif "malformed" in reason:
        reason = "is damaged"
    elif "locked" in reason:
        return ShopError("the shop is busy, nothing was done: try again in a moment")
    elif isinstance(error, FileNotFoundError):
        return ShopError(f"{file}: there is no folder {file.parent}: create it first")
    return ShopError(f"the shop's file {file} can't be used: it {_as_clause(reason)}")


def _as_clause(reason: str) -> str:
    told = reason if reason.startswith("is ") else f"gives '{reason}'"
    return f"{told}; move it away, or name another file by RUNGS_SHOP"
