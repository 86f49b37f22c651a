"""The memory file: what is opened, what is refused, and that a refusal touches nothing."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.sqlite import SqliteStore

from graphs.errors import UsageError
from graphs.memory import MemoryFileError, open_memory
from graphs.memory.tables import APPLICATION_ID, LAYOUT

NAMESPACE = ("search_log", "t")


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a folder with its bytes and mode."""
    return {
        file.name: (file.read_bytes(), file.stat().st_mode)
        for file in folder.iterdir()
        if file.is_file()
    }


def refusal(path: str | Path) -> str:
    """The one line that a path is refused with; what lies in its folder must stay as it is."""
    folder = Path(path).parent
    before = contents(folder) if folder.is_dir() else None
    with pytest.raises(MemoryFileError) as caught:
        open_memory(path)
    assert before is None or contents(folder) == before
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rungs.sqlite"


@pytest.fixture
def filled(path: Path) -> Path:
    """A memory file with a few hundred items."""
    with open_memory(path) as memory:
        for number in range(300):
            memory.store.put(NAMESPACE, str(number), {"text": "x" * 200})
    return path


def test_a_missing_file_is_created_for_its_owner_alone_with_its_log(path: Path) -> None:
    """Case CKP-13: mode 0600, also where the umask would allow more."""
    before = os.umask(0)
    try:
        with open_memory(path) as memory:
            memory.store.put(NAMESPACE, "a", {"text": "b"})
            modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == {
        "rungs.sqlite": 0o600,
        "rungs.sqlite-wal": 0o600,
        "rungs.sqlite-shm": 0o600,
    }


def test_what_was_stored_is_there_when_the_file_is_opened_again(filled: Path) -> None:
    with open_memory(filled) as memory:
        assert len(memory.store.search(NAMESPACE, limit=1000)) == 300
    assert [file.name for file in filled.parent.iterdir()] == [filled.name]


def test_opening_a_file_that_is_up_to_date_writes_nothing(filled: Path) -> None:
    before = contents(filled.parent)
    open_memory(filled).close()
    assert contents(filled.parent) == before


def test_a_zero_byte_file_is_a_new_database_and_becomes_private(path: Path) -> None:
    """Case CKP-03."""
    path.touch(mode=0o644)
    with open_memory(path) as memory:
        memory.store.put(NAMESPACE, "a", {"text": "b"})
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_mode_that_the_owner_gave_the_file_later_is_left_alone(filled: Path) -> None:
    filled.chmod(0o660)
    open_memory(filled).close()
    assert filled.stat().st_mode & 0o777 == 0o660


@pytest.mark.parametrize("garbage", [b"hello" * 500, b"\0", b"\0" * 8192, b"x", b"SQLite format"])
def test_a_file_that_is_no_database_is_refused_and_kept(path: Path, garbage: bytes) -> None:
    """Case CKP-03."""
    path.write_bytes(garbage)
    message = refusal(path)
    assert str(path) in message
    assert "not a SQLite database" in message


@pytest.mark.parametrize("kept", [50, 99, 100, 1000, 2048, 2049, 0.5, -2048, -1])
def test_a_truncated_file_is_refused_and_kept(filled: Path, kept: float) -> None:
    """Case CKP-03."""
    whole = filled.read_bytes()
    end = int(len(whole) * kept) if isinstance(kept, float) else int(kept)
    filled.write_bytes(whole[:end])
    message = refusal(filled)
    assert str(filled) in message
    assert "damaged or cut short" in message or "not a SQLite database" in message


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)


def test_a_device_is_refused() -> None:
    with pytest.raises(MemoryFileError, match="not a regular file"):
        open_memory("/dev/null")


def test_a_missing_folder_is_named_and_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "typo" / "rungs.sqlite"
    assert f"no folder {missing.parent}" in refusal(missing)
    assert not missing.parent.exists()


@pytest.mark.parametrize("path", ["", "  ", ":memory:", "a\0b"])
def test_a_path_that_names_no_file_is_refused(path: str) -> None:
    with pytest.raises(MemoryFileError, match="name a file"):
        open_memory(path)


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(MemoryFileError, match="name another file"):
        open_memory(tmp_path / "a")


def test_a_link_leads_to_the_file_that_it_names(tmp_path: Path, filled: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(filled)
    with open_memory(link) as memory:
        assert memory.path == filled.resolve()


def test_a_name_with_the_marks_of_an_address_is_a_plain_name(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=ro#b%20c.sqlite"
    open_memory(path).close()
    open_memory(path).close()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("closed", ["rungs.sqlite", "."])
def test_a_file_or_folder_without_write_permission_is_refused(
    filled: Path, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    """`os.access` is asked, as the tests may run as root, whom no mode keeps out."""
    target = (filled.parent / closed).resolve()

    def access(path: Path, mode: int) -> bool:
        return path != target or not mode & os.W_OK

    monkeypatch.setattr(os, "access", access)
    assert "no permission" in refusal(filled)


@pytest.mark.skipif(os.geteuid() == 0, reason="no mode keeps root out")
def test_a_read_only_file_is_refused(filled: Path) -> None:
    filled.chmod(0o400)
    assert "no permission" in refusal(filled)


def test_a_file_system_that_refuses_to_create_is_told_in_one_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    assert f"{path}: read-only file system" in refusal(path)


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE moz_places (id INTEGER)",
        "CREATE TABLE store (sku TEXT)",
        "CREATE TABLE cache (url TEXT); CREATE TABLE checkpoints (game TEXT)",
        "PRAGMA application_id = 252006",
        "PRAGMA user_version = 7",
    ],
)
@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_another_applications_database_is_refused_and_kept(
    path: Path, script: str, journal: str
) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA journal_mode={journal}")
        other.executescript(script)
    assert "another application's database" in refusal(path)


def test_another_applications_database_in_use_is_refused_and_kept(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.executescript("CREATE TABLE moz_places (id INTEGER)")
        before = {name: content for name, (content, _) in contents(path.parent).items()}
        with pytest.raises(MemoryFileError, match="moz_places"):
            open_memory(path)
        after = {name: content for name, (content, _) in contents(path.parent).items()}
    # The -shm file is the locks themselves, which every reader takes.
    assert {name for name in before if before[name] != after[name]} <= {"rungs.sqlite-shm"}


def test_a_file_of_a_newer_version_is_refused_and_kept(filled: Path) -> None:
    with closing(sqlite3.connect(filled)) as other:
        other.execute(f"PRAGMA user_version = {LAYOUT + 1}")
    assert "newer version" in refusal(filled)


def test_a_file_of_langgraphs_own_savers_is_taken_over(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        SqliteSaver(theirs).setup()
        store = SqliteStore(theirs)
        store.setup()
        store.put(NAMESPACE, "a", {"text": "theirs"})
    path.chmod(0o644)
    with open_memory(path) as memory:
        item = memory.store.get(NAMESPACE, "a")
        assert item is not None
        assert item.value == {"text": "theirs"}
        (mark,) = memory.saver.conn.execute("PRAGMA application_id").fetchone()
    assert mark == APPLICATION_ID
    assert path.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        assert SqliteStore(theirs).get(NAMESPACE, "a") is not None


@pytest.mark.parametrize("lost", ["removed", "emptied"])
def test_a_log_without_its_file_is_not_thrown_away(filled: Path, lost: str) -> None:
    log = filled.with_name(filled.name + "-wal")
    log.write_bytes(b"what was written last")
    filled.unlink() if lost == "removed" else filled.write_bytes(b"")
    assert "restore the file" in refusal(filled)


def test_a_set_up_that_is_killed_half_way_leaves_a_new_database(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LangGraph's store adds columns one by one; half of them would break its next migration."""

    def die(_: SqliteStore) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr("graphs.memory.tables.SqliteStore.setup", die)
        with pytest.raises(MemoryFileError, match="disk i/o error"):
            open_memory(path)
    with open_memory(path) as memory:
        memory.store.put(NAMESPACE, "a", {"text": "b"})


OPENER = """
import sys
from graphs.memory import open_memory
with open_memory(sys.argv[1]) as memory:
    memory.store.put(("opened",), sys.argv[2], {"text": "here"})
"""


@pytest.mark.processes
def test_several_processes_may_open_a_new_file_at_once(path: Path) -> None:
    openers = [
        subprocess.Popen([sys.executable, "-c", OPENER, str(path), str(number)])
        for number in range(4)
    ]
    assert [opener.wait(60) for opener in openers] == [0, 0, 0, 0]
    with open_memory(path) as memory:
        assert len(memory.store.search(("opened",))) == 4


def test_a_memory_may_be_closed_twice_and_a_refusal_is_a_usage_error(path: Path) -> None:
    memory = open_memory(path)
    memory.close()
    memory.close()
    assert issubclass(MemoryFileError, UsageError)
