"""The index follows the folder, survives what can go wrong, and never touches another's file."""

import builtins
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools import docs_index, docs_ranking, docs_shared
from tools.docs_index import DocsFolderError, DocsIndex, DocsIndexError
from tools.docs_shared import build, shared_index

ROOT = Path(docs_index.__file__).parents[1]


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(docs_shared, "_shared", {})
    yield tmp_path / "cache" / "rungs"
    for index in docs_shared._shared.values():
        index.close()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    write(folder / "tea.md", "# Tea\n\nGreen tea is steeped at 80 degrees.\n")
    write(folder / "coffee.txt", "Coffee\n\nEspresso needs 9 bar.\n")
    return folder


@pytest.fixture
def index(docs: Path) -> Iterator[DocsIndex]:
    with DocsIndex(docs) as made:
        yield made


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files read, as they are read."""
    names: list[str] = []
    read_document = docs_index.read_document

    def recorded(path: str) -> docs_index.Document:
        names.append(Path(path).name)
        return read_document(path)

    monkeypatch.setattr(docs_index, "read_document", recorded)
    return names


def write(path: Path, text: str | bytes, *, age: int = 60) -> None:
    """Write a file that looks `age` seconds old, so that its stamp is trusted at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    then = path.stat().st_mtime - age
    os.utime(path, (then, then))


def found(index: DocsIndex, query: str) -> list[str]:
    index.refresh()
    return [hit.file for hit in index.search(query).hits]


# What is read


def test_markdown_and_text_files_are_found_in_every_subfolder(docs: Path, index: DocsIndex) -> None:
    for name in ("a.markdown", "b.rst", "C.MD", "deep/er/d.txt", "ünï cödé/naïve file.md"):
        write(docs / name, "zither")
    assert sorted(found(index, "zither")) == sorted(
        ["a.markdown", "b.rst", "C.MD", "deep/er/d.txt", "ünï cödé/naïve file.md"]
    )


def test_other_files_and_hidden_ones_are_left_out(docs: Path, index: DocsIndex) -> None:
    for name in ("a.py", ".hidden.md", ".git/b.md", "c.md.bak", "md"):
        write(docs / name, "zither")
    assert found(index, "zither") == []


def test_a_file_name_that_is_not_unicode_is_indexed(docs: Path, index: DocsIndex) -> None:
    try:
        write(Path(os.fsdecode(os.fsencode(docs) + b"/caf\xe9.md")), "zither")
    except OSError:
        pytest.skip("this file system takes Unicode names only")
    assert found(index, "zither") == ["caf?.md"]


def test_symlink_loops_end_and_no_document_is_there_twice(docs: Path, index: DocsIndex) -> None:
    write(docs / "sub" / "z.md", "zither")
    (docs / "a loop").symlink_to(docs, target_is_directory=True)
    (docs / "sub" / "up").symlink_to(docs / "sub", target_is_directory=True)
    (docs / "again.md").symlink_to(docs / "sub" / "z.md")
    (docs / "self.md").symlink_to(docs / "self.md")
    (docs / "gone.md").symlink_to(docs / "nowhere.md")
    assert found(index, "zither") == ["sub/z.md"]


def test_a_symlink_out_of_the_folder_is_named_and_not_followed(
    docs: Path, index: DocsIndex, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "other" / "z.md", "zither")
    write(tmp_path / "docs-beside" / "z.md", "zither")
    write(tmp_path / "single.txt", "zither")
    write(tmp_path / "program", "zither")
    (docs / "linked").symlink_to(tmp_path / "other", target_is_directory=True)
    (docs / "beside").symlink_to(tmp_path / "docs-beside", target_is_directory=True)
    (docs / "above").symlink_to("..", target_is_directory=True)
    (docs / "one.txt").symlink_to(tmp_path / "single.txt")
    (docs / "hop.txt").symlink_to(docs / "one.txt")
    (docs / "program").symlink_to(tmp_path / "program")
    with caplog.at_level(logging.WARNING, "rungs.docs"):
        assert found(index, "zither") == []
    outside = "a link that leads out of the folder"
    names = ("linked", "beside", "above", "one.txt", "hop.txt")
    assert index.skipped() == dict.fromkeys(names, outside)
    assert {name for name in names if name in caplog.text} == set(names)


def test_a_symlink_within_the_folder_is_followed_and_so_is_one_to_the_folder(
    docs: Path, tmp_path: Path
) -> None:
    write(docs / ".hidden" / "z.md", "zither")
    (docs / "shown.md").symlink_to(docs / ".hidden" / "z.md")
    (tmp_path / "alias").symlink_to(docs, target_is_directory=True)
    with DocsIndex(tmp_path / "alias") as index:
        assert found(index, "zither") == ["shown.md"]


@pytest.mark.parametrize(
    "raw",
    [
        "Zither café".encode(),
        b"\xef\xbb\xbf" + "Zither café".encode(),
        "Zither café".encode("cp1252"),
        "Zither café \x81".encode("latin-1"),
        "Zither café".encode("utf-16"),
        b"\xfe\xff" + "Zither café".encode("utf-16-be"),
        "Zither café".encode("utf-32"),
        "line\r\n\r\nZither café\rend".encode(),
    ],
)
def test_every_usual_encoding_is_read(docs: Path, index: DocsIndex, raw: bytes) -> None:
    write(docs / "z.txt", raw)
    index.refresh()
    (hit,) = index.search("zither cafe").hits
    assert "Zither café" in hit.text
    assert "\r" not in hit.text
    assert "\ufeff" not in hit.text


def test_binary_and_large_files_are_skipped_with_a_warning_that_names_them(
    docs: Path, index: DocsIndex, caplog: pytest.LogCaptureFixture
) -> None:
    write(docs / "photo.md", b"\x89PNG\r\n\x1a\n\0\0zither")
    write(docs / "large.txt", b"zither " * 800_000)
    with caplog.at_level(logging.WARNING, "rungs.docs"):
        assert found(index, "zither") == []
        index.refresh()
    assert index.skipped() == {"photo.md": "not a text file", "large.txt": "larger than 5 MB"}
    assert sorted(record.getMessage() for record in caplog.records) == [
        "left out of the document search: large.txt (larger than 5 MB)",
        "left out of the document search: photo.md (not a text file)",
    ]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 'Front: matter'\nid: 3\n---\n# Heading\n\nBody", "Front: matter"),
        ('+++\ntitle = "In TOML"\n+++\nBody', "In TOML"),
        ("\n\nIntro first.\n\n## *Bold* [link](http://x) `code` ##\n\nBody", "Bold link code"),
        ("Underlined\n==========\n\nBody", "Underlined"),
        ("=====\nOver\n=====\n\nBody", "Over"),
        ("# C# for all", "C# for all"),
        ("Rst\n~~~\n\nBody", "Rst"),
        ("```\n# a comment\n```\n\n# Real\n", "Real"),
        ("| a | b |\n| --- | --- |\n\nno heading", "my file"),
        ("- item\n---\nno heading", "my file"),
        ("#hashtag, no heading", "my file"),
        ("---\nnever closed\n\nbody", "my file"),
    ],
)
def test_the_title_is_the_front_matters_or_the_first_heading_or_the_file_name(
    tmp_path: Path, text: str, title: str
) -> None:
    write(tmp_path / "my file.md", text)
    assert docs_index.read_document(str(tmp_path / "my file.md")).title == title


def test_a_result_carries_the_passage_that_matches(docs: Path, index: DocsIndex) -> None:
    parts = [f"## Part {i}\n\n" + f"filler{i} words here. " * 60 for i in range(20)]
    parts[13] += "\n\nThe zither has strings.\n"
    write(docs / "book.md", "# Book\n\n" + "\n\n".join(parts))
    index.refresh()
    (hit,) = index.search("zither").hits
    assert (hit.title, hit.file) == ("Book", "book.md")
    assert hit.text.startswith("## Part 13\n")
    assert len(hit.text) <= docs_index.PASSAGE_CHARS


@pytest.mark.parametrize("unit", ["word ", "Sentence here. ", "line\n", "para\n\n", "x"])
def test_passages_keep_every_word_and_the_limit(tmp_path: Path, unit: str) -> None:
    write(tmp_path / "a.md", "# T\n\n## S\n\n" + unit * 2_000)
    passages = docs_index.read_document(str(tmp_path / "a.md")).passages
    assert all(0 < len(passage) <= docs_index.PASSAGE_CHARS for passage in passages)
    joined = "".join(passage.removeprefix("## S") for passage in passages)
    assert "".join(joined.split()) == "".join((unit * 2_000).split())


def test_one_long_document_does_not_crowd_out_the_others(docs: Path, index: DocsIndex) -> None:
    write(docs / "long.md", "# Zither\n\n" + "zither strings and more. " * 600)
    write(docs / "short.md", "# Short\n\nA zither too, with strings.\n")
    assert "short.md" in found(index, "zither strings")
    assert found(index, "zither strings").count("long.md") > 2


def test_a_document_that_is_only_a_heading_is_found(docs: Path, index: DocsIndex) -> None:
    write(docs / "h.md", "# Zither\n")
    assert found(index, "zither") == ["h.md"]


# Keeping up to date


def test_only_what_changed_is_read_again(docs: Path, index: DocsIndex, reads: list[str]) -> None:
    index.refresh()
    assert sorted(reads) == ["coffee.txt", "tea.md"]
    reads.clear()
    index.refresh()
    assert reads == []
    write(docs / "tea.md", "# Tea\n\nBlack tea is steeped at 95 degrees.\n")
    write(docs / "new.md", "# New\n")
    index.refresh()
    assert sorted(reads) == ["new.md", "tea.md"]


def test_new_changed_moved_and_deleted_files_are_seen(docs: Path, index: DocsIndex) -> None:
    assert found(index, "green") == ["tea.md"]
    write(docs / "tea.md", "# Tea\n\nBlack tea.\n")
    assert found(index, "green") == []
    (docs / "tea.md").rename(docs / "chai.md")
    assert found(index, "black") == ["chai.md"]
    (docs / "chai.md").unlink()
    assert found(index, "black") == []
    assert index.search("espresso").available == 1


def test_a_change_that_keeps_size_and_mtime_is_seen(docs: Path, index: DocsIndex) -> None:
    index.refresh()
    before = (docs / "tea.md").stat()
    (docs / "tea.md").write_text("# Tea\n\nBlack tea is steeped at 80 degrees.\n")
    os.utime(docs / "tea.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (docs / "tea.md").stat().st_size == before.st_size
    assert found(index, "black") == ["tea.md"]


def test_a_file_written_this_instant_is_read_once_more(docs: Path, index: DocsIndex) -> None:
    write(docs / "now.md", "one", age=0)
    index.refresh()
    assert index._known["now.md"].mtime_ns == -1


def test_a_search_compares_the_folder_again_after_ten_times_what_that_took(
    docs: Path, index: DocsIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    scans: list[float] = []
    scan = docs_index.scan

    def slow_scan(folder: Path, on_skip: object) -> dict[str, docs_index.Stamp]:
        scans.append(clock[0])
        clock[0] += 0.5
        return scan(folder, lambda *_: None)

    index.refresh()
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(docs_index, "scan", slow_scan)
    index.refresh()
    for _ in range(40):
        index.search("tea")
        clock[0] += 0.25
    assert scans == [100.0, 105.5]


def test_two_processes_see_each_others_work(docs: Path, reads: list[str]) -> None:
    with DocsIndex(docs) as one, DocsIndex(docs) as two:
        one.refresh()
        two.refresh()
        assert len(reads) == 2
        write(docs / "new.md", "zither")
        assert found(one, "zither") == ["new.md"]
        assert found(two, "zither") == ["new.md"]
        assert len(reads) == 3


def test_progress_counts_the_files_that_changed(docs: Path) -> None:
    calls: list[tuple[int, int]] = []
    build(docs, progress=lambda done, total: calls.append((done, total)))
    build(docs, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(0, 2), (1, 2), (2, 2)]


def test_build_and_the_tool_share_one_index(docs: Path) -> None:
    assert build(docs) is shared_index(str(docs)) is shared_index(docs / "." / ".." / "docs")


# What goes wrong

KILLED = """
import os, signal, sys
from tools.docs_index import DocsIndex
def progress(done, total):
    if done == 150:
        os.kill(os.getpid(), signal.SIGKILL)
DocsIndex(sys.argv[1]).refresh(progress)
"""


@pytest.mark.processes
def test_a_kill_midway_leaves_the_old_index_whole(docs: Path, reads: list[str]) -> None:
    with DocsIndex(docs) as index:
        index.refresh()
    for i in range(200):
        write(docs / f"new{i}.md", "zither " * 500)
    (docs / "coffee.txt").unlink()
    done = subprocess.run([sys.executable, "-c", KILLED, docs], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    reads.clear()
    with DocsIndex(docs) as index:
        database = index.database
        assert database is not None
        with sqlite3.connect(database) as connection:
            assert connection.execute("SELECT count(*) FROM file").fetchone() == (2,)
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        index.refresh()
        assert len(reads) == 200
        assert index.search("zither").available == 201


BUILDER = """
import sys
import time
from tools.docs_index import DocsIndex
calls = []
index = DocsIndex(sys.argv[1])
index.refresh(lambda done, total: calls.append(total))
print(len(calls), index.search("zither").available)
"""


@pytest.mark.processes
def test_two_processes_may_index_at_once_and_the_work_is_done_once(docs: Path) -> None:
    for i in range(200):
        write(docs / f"new{i}.md", "zither " * 500)
    both = [
        subprocess.Popen(
            [sys.executable, "-c", BUILDER, docs], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    outputs = [process.communicate()[0].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(output[0] for output in outputs) == ["0", "203"]
    assert {output[1] for output in outputs} == {"202"}


def test_an_interrupted_update_is_rolled_back(docs: Path, index: DocsIndex) -> None:
    index.refresh()
    write(docs / "new.md", "zither")

    def interrupt(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.refresh(interrupt)
    assert found(index, "zither") == ["new.md"]


def test_the_index_file_is_private_and_in_the_cache(index: DocsIndex, fresh_cache: Path) -> None:
    index.refresh()
    assert index.database is not None
    assert index.database.parent == fresh_cache
    assert {path.stat().st_mode & 0o777 for path in fresh_cache.iterdir()} == {0o600}
    assert fresh_cache.stat().st_mode & 0o777 == 0o700


def test_two_folders_have_two_index_files(docs: Path, tmp_path: Path) -> None:
    write(tmp_path / "other" / "a.md", "zither")
    with DocsIndex(docs) as one, DocsIndex(tmp_path / "other") as two:
        assert one.database != two.database
        assert found(one, "zither") == []
        assert found(two, "zither") == ["a.md"]


def test_without_a_writable_cache_the_index_is_in_memory(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "file", "not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING, "rungs.docs"), DocsIndex(docs) as index:
        assert found(index, "espresso") == ["coffee.txt"]
        assert index.database is None
    (record,) = caplog.records
    assert "the index is kept in memory" in record.getMessage()


def test_a_disk_that_is_full_moves_the_index_to_memory(docs: Path, index: DocsIndex) -> None:
    index._file.connection.execute("PRAGMA max_page_count = 1")
    write(docs / "big.md", "".join(f"zither{i} " for i in range(20_000)))
    assert found(index, "zither7") == ["big.md"]
    assert index.database is None


@pytest.mark.parametrize("damage", ["truncated", "overwritten", "headless", "older version"])
def test_a_damaged_or_older_index_is_made_anew(docs: Path, damage: str, reads: list[str]) -> None:
    for i in range(50):
        write(docs / f"doc{i}.md", f"zither number{i} " * 200)
    with DocsIndex(docs) as index:
        index.refresh()
        path = index.database
    assert path is not None
    raw = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(raw[: len(raw) // 3])
    elif damage == "overwritten":
        path.write_bytes(raw[:4096] + b"\xa5" * (len(raw) - 4096))
    elif damage == "headless":
        path.write_bytes(raw[:100])
    else:
        connection = sqlite3.connect(path)
        connection.executescript("PRAGMA user_version = 0; DROP TABLE file")
        connection.close()
    reads.clear()
    with DocsIndex(docs) as index:
        assert set(found(index, "number7")) == {"doc7.md"}
        assert index.database == path
    assert len(reads) == 52


def test_damage_that_shows_during_a_search_is_repaired(docs: Path, index: DocsIndex) -> None:
    index.refresh()
    index._file.connection.execute("DELETE FROM passage_data WHERE id > 10")
    index._file.connection.execute("UPDATE passage_data SET block = x'ffff' WHERE id = 10")
    write(docs / "new.md", "zither")
    assert found(index, "zither") == ["new.md"]
    assert found(index, "espresso") == ["coffee.txt"]


@pytest.mark.parametrize("content", [b"precious notes", b"SQLite format 3\0 of another kind"])
def test_a_file_that_is_not_ours_is_never_touched(
    docs: Path, tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    foreign = tmp_path / "foreign.sqlite"
    foreign.write_bytes(content)
    with pytest.raises(DocsIndexError, match=r"foreign\.sqlite can't be used: it is another file"):
        DocsIndex(docs, foreign)
    in_cache = docs_index.default_database(docs.resolve())
    assert in_cache is not None
    write(in_cache, content)
    with DocsIndex(docs) as index:
        assert found(index, "espresso") == ["coffee.txt"]
        assert index.database is None
    assert foreign.read_bytes() == in_cache.read_bytes() == content


def test_another_applications_database_is_never_touched(docs: Path, tmp_path: Path) -> None:
    path = tmp_path / "app.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE file (x); INSERT INTO file VALUES (1)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DocsIndexError, match="it is another file"):
        DocsIndex(docs, path)
    assert path.read_bytes() == before


def test_a_database_that_is_a_folder_is_refused_in_one_line(docs: Path, tmp_path: Path) -> None:
    with pytest.raises(DocsIndexError, match="Is a directory") as error:
        DocsIndex(docs, tmp_path)
    assert "\n" not in str(error.value)


def test_a_folder_that_cannot_be_searched_is_refused_in_one_line(tmp_path: Path) -> None:
    write(tmp_path / "file.md", "x")
    (tmp_path / "empty").mkdir()
    write(tmp_path / "pictures" / "a.png", "x")
    for folder, reason in (
        (tmp_path / "missing", "does not exist"),
        (tmp_path / "two\nlines", "does not exist"),
        (tmp_path / "file.md", "is a file: name the folder that holds it"),
        (tmp_path / "empty", "holds no documents: put files ending in .md"),
        (tmp_path / "pictures", "holds no documents"),
        ("a\0b", "can't be a documents folder"),
        ("  ", "no documents folder is named"),
    ):
        with pytest.raises(DocsFolderError, match=reason) as error:
            DocsIndex(folder)
        assert "\n" not in str(error.value)
        assert isinstance(error.value, ValueError)


def test_a_folder_without_readable_text_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "a.md", b"\0\0")
    write(tmp_path / "docs" / "b.md", "")
    with DocsIndex(tmp_path / "docs") as index, pytest.raises(DocsFolderError, match="any text"):
        index.search("x")


def test_a_folder_of_which_all_was_skipped_gives_the_real_reason(tmp_path: Path) -> None:
    write(tmp_path / "secret.md", "x")
    write(tmp_path / "links" / "a.txt", "x")
    (tmp_path / "links" / "a.txt").unlink()
    (tmp_path / "links" / "a.md").symlink_to(tmp_path / "secret.md")
    for number in range(4):
        write(tmp_path / "binary" / f"{number}.md", b"\0\0")
    with pytest.raises(DocsFolderError, match=r"read, but a\.md \(a link that leads out of the f"):
        DocsIndex(tmp_path / "links")
    said = r"read, but 0\.md \(not a text file\), .*, 2\.md \(not a text file\), 1 more: put"
    with DocsIndex(tmp_path / "binary") as index, pytest.raises(DocsFolderError, match=said):
        index.refresh()


def test_a_folder_that_goes_away_is_told_and_may_come_back(docs: Path, index: DocsIndex) -> None:
    index.refresh()
    docs.rename(docs.with_name("away"))
    with pytest.raises(DocsFolderError, match="does not exist"):
        index.refresh()
    docs.with_name("away").rename(docs)
    assert found(index, "espresso") == ["coffee.txt"]


def test_what_may_not_be_read_is_left_out_and_named(
    docs: Path, index: DocsIndex, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(docs / "locked" / "a.md", "zither")
    write(docs / "closed.md", "zither")
    scandir, real_open = os.scandir, open

    def refusing_scandir(path: str) -> object:
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    def refusing_open(path: str, *args: Any, **kwargs: Any) -> object:
        if str(path).endswith("closed.md"):
            raise PermissionError(13, "Permission denied", path)
        return real_open(path, *args, **kwargs)

    monkeypatch.setattr(os, "scandir", refusing_scandir)
    monkeypatch.setattr(builtins, "open", refusing_open)
    with caplog.at_level(logging.WARNING, "rungs.docs"):
        assert found(index, "zither") == []
    assert index.skipped() == dict.fromkeys(("closed.md", "locked"), "Permission denied")
    assert sorted(record.getMessage().split(": ")[1] for record in caplog.records) == [
        "closed.md (Permission denied)",
        "locked (Permission denied)",
    ]


@pytest.mark.parametrize("limit", [0, -1, 21])
def test_the_limit_is_from_1_to_20(index: DocsIndex, limit: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 20"):
        index.search("tea", limit)


def test_common_words_of_a_large_folder_are_left_out_beside_rarer_ones(
    docs: Path, index: DocsIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs_ranking, "_COMMON_FROM", 5)
    for i in range(100):
        write(docs / f"n{i}.md", f"refund terms {i}" + " zither" * (i == 42))
    assert found(index, "refund zither") == ["n42.md"]
    assert index.search("refund zither").matched == 1
    assert len(found(index, "refund terms")) == 5
