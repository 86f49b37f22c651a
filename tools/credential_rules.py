"""Rules for what looks like a credential by itself: keys, tokens, passwords in a URL, cookies."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.redaction_rules import REDACTED, SPACE, Span, rule

_WORD = r"[A-Za-z0-9_-]"
_PEM = r"[A-Z0-9 ]*PRIVATE KEY-----"
_FORMATS = (
    r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]*[0-9]|[A-Za-z0-9_-]{20})[A-Za-z0-9_-]{4,}",
    r"(?<![A-Za-z0-9])[srp]k_(?:live|test)_[A-Za-z0-9]{4,}",
    r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,}",
    r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{16,}",
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{16,}",
    r"(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{8,}",
    r"(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{8,}",
    r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}",
    r"(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{16,}",
    r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{20,}",
    r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,}",
    r"(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{40,}",
    r"(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"(?<![A-Za-z0-9])whsec_[A-Za-z0-9]{16,}",
    r"(?<![A-Za-z0-9])gsk_[A-Za-z0-9]{20,}",
    r"(?<![A-Za-z0-9])(?:xai|pplx)-[A-Za-z0-9]{20,}",
    r"(?<![A-Za-z0-9])tvly-(?=[a-z-]*[A-Z0-9])[A-Za-z0-9-]{16,}",
    r"(?<![A-Za-z0-9])lsv2_(?:pt|sk)_[A-Za-z0-9_]{20,}",
    r"(?<![A-Za-z0-9])shp(?:at|ca|pa|ss|tka)_[A-Za-z0-9]{16,}",
    r"(?<![A-Za-z0-9])do[opr]_v1_[A-Za-z0-9]{20,}",
    r"(?<![A-Za-z0-9])lin_(?:api|oauth)_[A-Za-z0-9]{16,}",
    r"(?<![A-Za-z0-9])r8_[A-Za-z0-9]{20,}",
    r"AGE-SECRET-KEY-1[A-Za-z0-9]{16,}",
    # Telegram
    r"(?<![0-9])[0-9]{8,10}:(?=[a-z0-9_-]*[A-Z])[A-Za-z0-9_-]{34,36}(?![A-Za-z0-9_-])",
    r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/-]{10,}",
    r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/[A-Za-z0-9_-]{10,}",
    # only at the beginning of a run, or runs without a dot would be read again and again
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    rf"-----BEGIN {_PEM}(?:(?!-----END {_PEM})[\s\S])*(?:-----END {_PEM})?",
)
# A credential goes with the rest of its word: what is left would look like one of its own.
_FORMAT = re.compile(rf"(?:{'|'.join(_FORMATS)}){_WORD}*")
_FORMAT_HINT = (
    r"sk-[A-Za-z0-9_-]{4}|[srp]k_(live|test)_|(AKIA|ASIA)[A-Z0-9]{12}"
    r"|gh[pousr]_[A-Za-z0-9]{16}|github_pat_|glpat-[A-Za-z0-9_-]{16}|xox[a-z]-|xapp-"
    r"|AIza[A-Za-z0-9_-]{30}|ya29\.[A-Za-z0-9_-]{16}|hf_[A-Za-z0-9]{20}"
    r"|npm_[A-Za-z0-9]{30}|pypi-[A-Za-z0-9_-]{40}|SG\.[A-Za-z0-9_-]{16}"
    r"|gsk_[A-Za-z0-9]{20}|(xai|pplx)-[A-Za-z0-9]{20}|tvly-[A-Za-z0-9-]{16}|lsv2_(pt|sk)_"
    r"|shp(at|ca|pa|ss|tka)_[A-Za-z0-9]{16}|do[opr]_v1_|lin_(api|oauth)_|r8_[A-Za-z0-9]{20}"
    r"|AGE-SECRET-KEY-1|[0-9]{8}:[A-Za-z0-9_-]{34}|hooks\.slack\.com/|discord(app)?\.com/api/"
    r"|whsec_[A-Za-z0-9]{16}|eyJ[A-Za-z0-9_-]{8}|-----BEGIN [A-Z0-9 ]*PRIVATE"
)

_URL = re.compile(r"://[^\s/:@\"'<>?#]*:([^\s/@\"'<>]+)(?=@)")
_AUTHORIZATION = re.compile(
    r"(?<![A-Za-z0-9_])(?:Bearer\s+(?=[A-Za-z0-9._~+/=-]{4})|(?:bearer|BEARER|[Bb]asic|BASIC)\s+"
    r"(?=[A-Za-z0-9._~+/=-]{8}))(?=[^\s\"',;]*[0-9=])([A-Za-z0-9._~+/=-]+)"
)
_COOKIE = re.compile(r"(?<![A-Za-z0-9_])(?:Set-)?Cookie\s{0,3}:[ \t]*([^\r\n\"']+)", re.IGNORECASE)


def _whole(pattern: re.Pattern[str], text: str, start: int) -> Iterator[Span]:
    for match in pattern.finditer(text, start):
        yield match.start(), *match.span()


def _values(pattern: re.Pattern[str], text: str, start: int) -> Iterator[Span]:
    for match in pattern.finditer(text, start):
        if not match[1].startswith(REDACTED):  # what stands behind it was looked at before
            yield match.start(), *match.span(1)


def _cookies(text: str, start: int) -> Iterator[Span]:
    for match in _COOKIE.finditer(text, start):
        value = match[1].rstrip()
        if "=" in value and value != REDACTED:
            yield match.start(), *match.span(1)


CREDENTIAL_RULES = (
    rule(
        "credential",
        _FORMAT_HINT,
        lambda text, start: _whole(_FORMAT, text, start),
        # a lookahead is decided by what it looks at, which the word holds
        rf"(?:{'|'.join(_FORMATS)}|(?<![A-Za-z0-9])sk-){_WORD}*",
    ),
    rule(
        "credential",
        r"://[^\s/:@\"'<>?#]*:[^\s/@\"'<>]+@",
        lambda text, start: _values(_URL, text, start),
        r"://[^\s/:@\"'<>?#]*:[^\s/@\"'<>]+@",
    ),
    rule(
        "credential",
        r"(?i:bearer|basic)\s+[^\s\"',;]*[0-9=]",
        lambda text, start: _values(_AUTHORIZATION, text, start),
        rf"(?<![A-Za-z0-9_])(?i:bearer|basic){SPACE}+[^\s\"',;]*",
    ),
    rule(
        "credential",
        r"(?i:cookie)\s{0,3}:",
        _cookies,
        rf"(?<![A-Za-z0-9_])(?i:(?:set-)?cookie){SPACE}{{0,3}}:[^\r\n\"']*",
    ),
)
