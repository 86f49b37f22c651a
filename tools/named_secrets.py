"""Values that stand behind the name of a credential, in any usual notation.

`password=x` in an environment or a query, `"api_key": "x"` in JSON (also JSON within JSON), `token:
x` in YAML and headers, `<secret>x</secret>`, `--password x` in a command, `the password is x`.
Prose has colons behind any word, so a bare value behind a colon must look like one (digits, signs)
or be alone on its line; behind a flag it must look like one, and behind `is` have a digit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from tools.redaction_rules import REDACTED, SPACE, Rule, Span, rule
from tools.secret_names import is_field, is_secret_name
from tools.secret_words import WORDS

NAME = (
    rf"(?:{WORDS}|pass(?:[ _-]?word|wd|phrase|code)?|pwd|secrets?|token|cookie|jwt"
    r"|creds?|credentials?|authorization"
    r"|(?:api|access|secret|private|auth|account|signing|encryption|master|session|app)[ _-]?key)"
    r"(?:[_-]?(?:value|hash|[0-9]+))?"
)
_BARE_KEY = r"(?:sig|signature|key)"
"""Secrets as the name of a query's parameter; `key=` also elsewhere, if its value has a digit."""

_WIDE = "\uff1a\uff1d"
"""The colon and the equals sign of Chinese and Japanese."""

_WIDE_ENDS = "\uff0c\uff1b\u3001\u3002\uff01\uff1f\uff08\uff09\u300c-\u300f\u3010\u3011"
_VERB = "is|was|will be|ist|lautet|war|es|era|est|é|è|foi|är"
_IS = rf"\s{{1,3}}(?:{_VERB})(?: now| set to| changed to)?:?\s{{1,3}}"
_WRITTEN = rf"(?:\s{{0,3}}(?:=>|:=|[:={_WIDE}])\s{{0,3}}|>)"
_SIGN = rf"(?:{_WRITTEN}|{_IS}|[ \t]{{1,3}})"
_SCHEME = r"(?:(?:bearer|basic|token|digest|apikey|negotiate)\s+)"
_BARE = rf"[^\s\"'&,;<>(){{}}\[\]{_WIDE_ENDS}]+"
_NAME_BEFORE = re.compile(r"[\w-]*\Z")
_NAME_LOOK = 40
_NO_VALUES = frozenset(
    (
        *("none", "null", "true", "false", "undefined", "str", "string", "bytes", "int", "any"),
        *("bool", "object", "optional", "required"),
        *("bearer", "basic", "token", "digest", "apikey", "negotiate"),
    )
)
_QUERY_SIGNS = frozenset("?&;")
_SIGNS = frozenset(f":=>{_WIDE}")
_TELLING = 4
_TELLING_SIGN = re.compile(r"[0-9_]|[^\w.'!?…\u2019-]")
"""What a word of prose does not have."""

_MARKUP = re.compile(r"[*_`~]+|\|[-+0-9]{0,2}")
"""Emphasis, and the sign of a YAML block."""

_MEASURE = re.compile(
    r"[0-9]+-?(?:bit|byte|char|digit|letter|word|day|hour|minute|second|month|stellig|zeichen)"
)
"""What begins like `32-character`, and says how long something is."""

_CLOSING = {quote: re.compile(rf"(?:[^{quote}\\\n]|\\.)*") for quote in "\"'"}


def any_of(fields: Collection[str]) -> str:
    """Return a pattern of fields, given as `plain_name` spells them, however they are spelled."""
    parts = (r"[ _-]?".join(map(re.escape, name.split("_"))) for name in sorted(fields))
    return rf"(?:{'|'.join(parts)})"


def named_rule(kind: str, fields: Collection[str] | None = None) -> Rule:
    """Make the rule for the values of names: those of credentials, or the fields given.

    Args:
        kind: What is counted.
        fields: Names as `plain_name` gives them; None takes the names of credentials.
    """
    return _Named(fields).rule(kind)


class _Named:
    """Finds the values of names in a text."""

    def __init__(self, fields: Collection[str] | None) -> None:
        self._fields = None if fields is None else frozenset(fields)
        if fields is None:
            begins = rf"(?:{NAME}|(?<=[?&;]){_BARE_KEY}|(?<![a-z0-9_-])key(?==))"
            hint = (
                f"{_hint_of(NAME)}|[?&;](?i:{_BARE_KEY})="
                r"|(^|[^A-Za-z0-9_-])(?i:key)=[^\s]*[0-9]"
            )
            watched = rf"(?i:{NAME}|{_BARE_KEY}(?==))"
        else:
            begins = any_of(fields)
            hint = _hint_of(begins)
            watched = rf"(?i:{begins})"
        self._hint = hint
        self._pattern = re.compile(
            rf"{begins}(?P<close>\\*[\"'])?(?P<sign>{_SIGN})(?P<scheme>{_SCHEME})?"
            rf"(?:(?P<open>\\*[\"'])|(?P<bare>{_BARE}))"
        )
        quoted = (
            r"\"(?:[^\"\\\n]|\\.)*\\?|'(?:[^'\\\n]|\\.)*\\?"
            r"|(?P<quote>\\+[\"'])(?:(?!(?P=quote))[\s\S])*"
        )
        scheme, close = rf"(?i:{_in_watch(_SCHEME)})?", r"(?:\\*[\"'])?"
        # A bare value may be one for being alone on its line, so the line's end decides.
        written = rf"{_in_watch(_WRITTEN)}{scheme}(?:{quoted}|{_BARE}[^\n]*)"
        said = rf"(?i:{_in_watch(_IS)}){scheme}(?:{quoted.replace('quote', 'mark')}|{_BARE})"
        flag = rf"(?<=-[\w-]{{0,{_NAME_LOOK}}}){watched}{close}[ \t]{{1,3}}{scheme}"
        flag += rf"(?:{quoted.replace('quote', 'sign')}|{_BARE})"
        self._watch = rf"(?:{watched}{close}(?:{written}|{said})|{flag})"

    def rule(self, kind: str) -> Rule:
        """Make the rule that counts them as a kind."""
        return rule(kind, self._hint, self._spans, self._watch)

    def _spans(self, text: str, start: int) -> Iterator[Span]:
        lowered = text.lower()
        if len(lowered) != len(text):  # some letters become two
            lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        position = start
        while match := self._pattern.search(lowered, position):
            end = self._end(text, match)
            if end is None:
                # go on behind the name alone: the value may hold a name of its own
                position = match.start("sign") + 1
                continue
            yield match.start(), match.end("open") if match["open"] else match.start("bare"), end
            position = end

    def _end(self, text: str, match: re.Match[str]) -> int | None:
        """Return where a secret value ends, or None when this is none."""
        look = max(0, match.start() - _NAME_LOOK)
        before = _NAME_BEFORE.search(match.string, look, match.start())
        start = before.start() if before else match.start()
        stop = match.start("close") if match["close"] else match.start("sign")
        name = text[start:stop]
        sign = match["sign"].strip()
        if not sign and text[start : start + 1] != "-":  # no flag
            return None
        if match["open"]:
            end = _quoted_end(text, match) if self._is_one(name) else None
            quoted = end is not None and text[match.end("open") : end]
            return end if not quoted or sign[:1] in _SIGNS or is_telling(quoted) else None
        value, end = match["bare"], match.end("bare")
        if is_no_value(value) or text[end : end + 1] == "(":
            return None
        if sign[:1] not in _SIGNS:
            return _said_end(sign, value, end) if self._is_one(name) else None
        return end if self._is_told(text, start, name, match) else None

    def _is_one(self, name: str) -> bool:
        return is_secret_name(name) if self._fields is None else is_field(name, self._fields)

    def _is_told(self, text: str, start: int, name: str, match: re.Match[str]) -> bool:
        """Whether a value without quotes is one."""
        sign, value, end = match["sign"], match["bare"], match.end("bare")
        telling = is_telling(value)
        if not self._is_one(name):
            query = sign == "=" and text[max(0, start - 1) : start] in _QUERY_SIGNS
            keyed = query or (sign == "=" and telling and any(map(str.isdigit, value)))
            return self._fields is None and keyed
        if sign in {"=", ">"} or match["scheme"] or telling:
            return True
        # as JSON has numbers
        return bool(self._fields and match["close"]) or _is_line(text, start, end)


def is_no_value(value: str) -> bool:
    """Whether a word behind a name says what belongs there, or is markup alone."""
    return value.lower() in _NO_VALUES or _MARKUP.fullmatch(value) is not None


def is_telling(value: str) -> bool:
    """Whether a word looks like no word of prose."""
    return len(value) >= _TELLING and _TELLING_SIGN.search(value) is not None


def _said_end(sign: str, value: str, end: int) -> int | None:
    """Return where a bare value ends that a flag, or `is`, stands before; None: it is none."""
    if not sign:
        return end if is_telling(value) and value[0] not in "$-%" else None
    bare = value.rstrip(".!?:\u2026")
    is_one = len(bare) >= _TELLING and any(map(str.isdigit, bare)) and not _MEASURE.match(bare)
    return end - len(value) + len(bare) if is_one else None


def _hint_of(names: str) -> str:
    said = rf"\s{{1,3}}(?i:{_VERB})[:\s]"
    flag = rf"-[^\s]{{0,{_NAME_LOOK}}}(?i:{names})\\*[\"']?[ \t]"
    return rf"(?i:{names})\\*[\"']?(\s{{0,3}}[:={_WIDE}]|>|{said})|{flag}"


def _in_watch(pattern: str) -> str:
    return pattern.replace(r"\s", SPACE)


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


def _is_line(text: str, start: int, end: int) -> bool:
    head = text[text.rfind("\n", 0, start) + 1 : start]
    stop = text.find("\n", end)
    tail = text[end : stop if stop >= 0 else len(text)]
    return not head.strip(" \t-#>*\"'") and not tail.strip()
