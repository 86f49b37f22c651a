"""Values that stand behind the name of a credential, in any usual notation.

`password=x` in an environment or a query, `"api_key": "x"` in JSON (also JSON within JSON), `token:
x` in YAML and headers, `<secret>x</secret>`. Prose has colons behind any word, so a bare value
behind a colon must look like one (digits, signs) or be alone on its line.
"""

from __future__ import annotations

import re

from tools.finder import finder
from tools.secret_names import is_secret_name

REDACTED = "[redacted]"

_NAME = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secrets?|token|cookie|jwt|creds?|credentials?|authorization"
    r"|(?:api|access|secret|private|auth|account|signing|encryption|master|session|app)[_-]?key)"
    r"(?:[_-]?(?:value|hash|[0-9]+))?"
)
_BARE_KEY = r"(?:sig|signature|key)"
"""Secrets as the name of a query's parameter; `key=` also elsewhere, if its value has a digit."""

MAY_BE_NAMED = finder(
    rf"(?i:{_NAME})\\*[\"']?(\s{{0,3}}[:=]|>)"
    rf"|[?&;](?i:{_BARE_KEY})=|(^|[^A-Za-z0-9_-])(?i:key)=[^\s]*[0-9]"
)
_NAMED = re.compile(
    rf"(?:{_NAME}|(?<=[?&;]){_BARE_KEY}|(?<![a-z0-9_-])key(?==))"
    r"(?P<close>\\*[\"'])?(?P<sign>\s{0,3}(?:=>|:=|[:=])\s{0,3}|>)"
    r"(?P<scheme>(?:bearer|basic|token|digest|apikey|negotiate)\s+)?"
    r"(?:(?P<open>\\*[\"'])|(?P<bare>[^\s\"'&,;<>(){}\[\]]+))"
)
_NAME_BEFORE = re.compile(r"[a-z0-9_-]*\Z")
_NAME_LOOK = 40
_NO_VALUES = frozenset(
    (
        *("none", "null", "true", "false", "undefined", "str", "string", "bytes", "int", "any"),
        *("bool", "object", "optional", "required"),
        *("bearer", "basic", "token", "digest", "apikey", "negotiate"),
    )
)
_QUERY_SIGNS = frozenset("?&;")
_TELLING = 4
_TELLING_SIGN = re.compile(r"[0-9]|[^A-Za-z0-9.'!?…\u2019-]")
"""What a word of prose does not have."""


def without_named(text: str) -> str:
    """Replace the values that stand behind secret names."""
    lowered = text.lower()
    if len(lowered) != len(text):  # some letters become two
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    pieces: list[str] = []
    done = position = 0
    while match := _NAMED.search(lowered, position):
        end = _secret_end(text, match)
        if end is None:
            # go on behind the name alone: the value may hold a name of its own
            position = match.start("sign") + 1
            continue
        start = match.end("open") if match["open"] else match.start("bare")
        pieces += [text[done:start], REDACTED]
        done = position = end
    return "".join([*pieces, text[done:]]) if pieces else text


def _secret_end(text: str, match: re.Match[str]) -> int | None:
    """Return where a secret value ends, or None when this is none."""
    look = max(0, match.start() - _NAME_LOOK)
    before = _NAME_BEFORE.search(match.string, look, match.start())
    start = before.start() if before else match.start()
    stop = match.start("close") if match["close"] else match.start("sign")
    name = text[start:stop]
    if match["open"]:
        return _quoted_end(text, match) if is_secret_name(name) else None
    value, end = match["bare"], match.end("bare")
    if value in _NO_VALUES or text[end : end + 1] == "(":
        return None
    return end if _is_told(text, start, name, match) else None


def _is_told(text: str, start: int, name: str, match: re.Match[str]) -> bool:
    """Whether a value without quotes is one."""
    sign, value, end = match["sign"], match["bare"], match.end("bare")
    telling = len(value) >= _TELLING and _TELLING_SIGN.search(value) is not None
    if not is_secret_name(name):
        query = sign == "=" and text[max(0, start - 1) : start] in _QUERY_SIGNS
        return query or (sign == "=" and telling and any(map(str.isdigit, value)))
    return sign in {"=", ">"} or bool(match["scheme"]) or telling or _is_line(text, start, end)


def _quoted_end(text: str, match: re.Match[str]) -> int | None:
    quote = match["open"]
    start = match.end("open")
    if len(quote) > 1:
        found = text.find(quote, start)
        end = found if found >= 0 else len(text)
    else:
        closing = _CLOSING[quote].match(text, start)
        end = closing.end() if closing else len(text)
    value = text[start:end]
    return end if value and value != REDACTED else None


_CLOSING = {quote: re.compile(rf"(?:[^{quote}\\\n]|\\.)*") for quote in "\"'"}


def _is_line(text: str, start: int, end: int) -> bool:
    head = text[text.rfind("\n", 0, start) + 1 : start]
    stop = text.find("\n", end)
    tail = text[end : stop if stop >= 0 else len(text)]
    return not head.strip(" \t-#>*\"'") and not tail.strip()
