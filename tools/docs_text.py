"""Read a Markdown or text file into a title and passages."""

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tools.docs_folder import shown

MAX_FILE_BYTES: Final = 5_000_000
PASSAGE_CHARS: Final = 1_500


class SkippedError(Exception):
    """Say why one file is left out of the index."""


class Document(NamedTuple):
    """A title, and the text in passages of about `PASSAGE_CHARS` characters."""

    title: str
    passages: list[str]


_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_FRONT_MATTER: Final = re.compile(
    r"(---|\+\+\+)\n(.*?)^(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL
)
_FRONT_TITLE: Final = re.compile(r"^title[ \t]*[:=][ \t]*(\S.*)$", re.MULTILINE | re.IGNORECASE)
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(```+|~~~+)")
_UNDERLINE: Final = re.compile(r"([=\-~^\"'*+#])\1{2,}[ \t]*$")
_MARKUP: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|\{#[^}]*\}|[*`]+|<[^>]*>")


def read_text(path: str) -> str:
    """Return a file's text: by its byte order mark, else UTF-8, else Windows-1252, else Latin-1.

    Raises:
        SkippedError: the file is binary, over `MAX_FILE_BYTES` or unreadable.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - ten thousand times a build
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise SkippedError(error.strerror or "unreadable") from None
    if len(raw) > MAX_FILE_BYTES:
        raise SkippedError(f"larger than {MAX_FILE_BYTES // 1_000_000} MB")
    text = _decode(raw)
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _controls(raw: bytes) -> int:
    return len(raw) - len(raw.translate(None, _CONTROLS))


def _decode(raw: bytes) -> str:
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            return raw.decode(encoding, "replace")
    if b"\0" in raw or _controls(raw) > max(2, len(raw) // 50):
        raise SkippedError("not a text file")
    for encoding in ("utf-8", "cp1252"):
        with contextlib.suppress(UnicodeDecodeError):
            return raw.decode(encoding)
    return raw.decode("latin-1")


def read_document(path: str) -> Document:
    """Return the title and the passages of a file.

    The title is the front matter's, else the first heading, else the file's name without its
    suffix. A passage ends where a section or a paragraph ends, and starts with its heading.

    Raises:
        SkippedError: the file is binary, too large or unreadable.
    """
    text = read_text(path)
    title = ""
    if front := _FRONT_MATTER.match(text):
        text = text[front.end() :]
        if line := _FRONT_TITLE.search(front[2]):
            title = _plain(line[1].strip().strip("\"'"))
    sections = list(_sections(text))
    if (
        not title
        and (first := next((i for i, (h, _) in enumerate(sections) if h), None)) is not None
    ):
        title = _plain(_HEADING.sub(r"\1", sections[first][0]))
        sections[first] = ("", sections[first][1])
    # A document that is a heading only is still found by it.
    passages = list(_passages(sections)) or [""] * bool(text.strip())
    return Document(title or shown(Path(path).stem), passages)


def _plain(heading: str) -> str:
    text = _MARKUP.sub(r"\1", heading)
    return " ".join(text.split())[:200].strip()


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield (heading line or "", text below it); a "#" inside a code fence is no heading."""
    heading, body, fence = "", list[str](), ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        start = ""
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif _HEADING.match(line):
            start = line.strip()
        elif body and _UNDERLINE.match(line) and _is_underlined(body, line):
            start = f"## {body.pop().strip()}"
            if body and _UNDERLINE.match(body[-1]):
                body.pop()
        elif mark:
            fence = mark[1]
        if start:
            yield heading, "\n".join(body).strip("\n")
            heading, body = start, []
        else:
            body.append(line)
    yield heading, "\n".join(body).strip("\n")


def _is_underlined(body: list[str], underline: str) -> bool:
    """Whether the newest line stands alone, is no list or table row, and is not longer."""
    above = body[-2].strip() if len(body) > 1 else ""
    line = body[-1].strip()
    alone = not above or bool(_UNDERLINE.match(above))
    short = underline[0] in "=-" or len(line) <= len(underline.strip())
    return bool(line) and alone and short and "|" not in line and line[0] not in "-*+>#=~"


def _passages(sections: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Join short sections and split long ones, so that each passage is near the limit."""
    current = ""
    for heading, body in sections:
        top = heading[:200] + "\n\n" if heading else ""
        if len(current) + len(top) + len(body) + 2 <= PASSAGE_CHARS:
            current = f"{current}\n\n{top}{body}".strip()
            continue
        if current:
            yield current
        *full, current = (f"{top}{p}".strip() for p in _pieces(body, PASSAGE_CHARS - len(top)))
        yield from full
    if current:
        yield current


def _pieces(text: str, limit: int) -> Iterator[str]:
    """Cut at the last paragraph, line, sentence or word end within `limit`; yield at least one."""
    text = text.strip()
    while len(text) > limit:
        ends = (text.rfind(end, limit // 3, limit) for end in ("\n\n", "\n", ". ", " "))
        cut = next((end for end in ends if end > 0), limit - 1) + 1
        yield text[:cut].strip()
        text = text[cut:].strip()
    yield text
