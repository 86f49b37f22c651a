"""Turn a question into the words that FTS5 is asked for, and text into what it would miss."""

import re
import unicodedata
from typing import Final

_STOPS: Final = """
a about all also am an and any are as at be been being but by can cannot cant could did do does
doesnt doing dont for from get gets got had has have having he hello help her hers hi him his how
i id if ill im in into is isnt it its ive just know like many may me might much must my need no not
of on or our ours out please s she should so some t tell than that thats the their them then there
these they this those to too us very want was wasnt we were what whats when where which who whom
whose why will with wont would you your yours
"""
_STOP_WORDS: Final = frozenset(_STOPS.split())
_HYPHENS: Final = "-_'\u2019\u2010\u2011"
_CJK_CHARS: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_MARKS: Final = "\u3000-\u301f\uff01-\uff0f\uff1a-\uff20"
_HYPHEN: Final = re.compile(f"[{_HYPHENS}]+")
_JOINED: Final = re.compile(rf"[^\W_]++(?:[{_HYPHENS}][^\W_]++)++")
_CODE: Final = re.compile(r"\b[A-Za-z]{1,6}+(\d{2,})\b")
_CJK: Final = re.compile(f"[{_CJK_CHARS}]+")
_GAP: Final = re.compile(rf"[\s\x00-\x1f\x7f!\"#$%&()*+,./:;<=>?@\[\\\]^`{{|}}~{_CJK_MARKS}]+")
_EDGES: Final = re.compile(r"^[\W_]+|[\W_]+$")
_MAX_TERMS: Final = 48
_MAX_WORD: Final = 64


def extra_words(text: str) -> str:
    """Return what the tokenizer misses: "e4042" for E-4042, its number, each CJK character."""
    # Most words are plain: to pass them by first takes a tenth of the time.
    mixed = " ".join([word for word in text.split() if not word.isalpha()])
    words = {_HYPHEN.sub("", word) for word in _JOINED.findall(mixed) if len(word) <= _MAX_WORD}
    words.update(_CODE.findall(mixed))
    if not text.isascii():
        words.update(" ".join(run) for run in _CJK.findall(text))
    return "\n".join(sorted(words))


def query_terms(query: str) -> list[str]:
    """Return one FTS5 expression a word, each word in quotes, so that none is read as syntax.

    Stop words go, unless there is nothing else; at most 48 different words are kept.
    """
    clean = unicodedata.normalize("NFC", query.encode("utf-8", "ignore").decode()).lower()
    words = [word for word in (_EDGES.sub("", w) for w in _GAP.split(clean)) if word]
    telling = [w for w in words if _HYPHEN.sub("", w) not in _STOP_WORDS]
    terms: dict[str, None] = {}
    for word in telling or words:
        terms.update(dict.fromkeys(_expressions(word[:_MAX_WORD])))
        if len(terms) >= _MAX_TERMS:
            break
    return list(terms)[:_MAX_TERMS]


def _expressions(word: str) -> list[str]:
    runs = _CJK.findall(word)
    if runs:
        pairs = [run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))]
        rest = [e for part in _CJK.split(word) if part for e in _expressions(_EDGES.sub("", part))]
        return [f'"{" ".join(pair)}"' for pair in pairs] + rest
    parts = [part for part in _HYPHEN.split(word) if part]
    if len(parts) < 2:  # noqa: PLR2004
        return [f'"{part}"' for part in parts]
    alone = [part for part in parts if len(part) > 1 and part not in _STOP_WORDS]
    forms = [" ".join(parts), "".join(parts), *alone]
    return ["(" + " OR ".join(f'"{form}"' for form in forms) + ")"]
