"""Rules for what is somebody's: card numbers and e-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.redaction_rules import Rule, Span, rule

_NETWORKS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})"  # Visa
    r"|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12,15}"  # Discover
    r"|3(?:0[0-5]|[689]\d)\d{11}"  # Diners Club
    r"|35(?:2[89]|[3-8]\d)\d{12}"  # JCB
    r"|62\d{14,17}"  # UnionPay
    r"|(?:50|5[6-9]|6\d)\d{10,17}"  # Maestro
)
# Between groups stand what people type and what web pages and PDFs put there: blanks, dashes, dots.
_SIGN = "[ .\u00a0\u2007\u2009\u202f\u2010-\u2015\u2212-]"
_CARD_SHAPE = (
    rf"(?<![\w.])(?:\d{{12,19}}|\d{{4}}(?P<sign>{_SIGN})\d{{4}}(?P=sign)\d{{4}}(?P=sign)\d{{4}}"
    rf"(?:(?P=sign)\d{{1,3}})?|\d{{4}}(?P<amex>{_SIGN})\d{{6}}(?P=amex)\d{{4,5}})"
)
_CARD = re.compile(rf"{_CARD_SHAPE}(?!\w|[.,]\d)", re.ASCII)
_SMALLEST_CARD = 10**11
_DOUBLE_OVER = 9

_LOCAL_MOST = 64  # characters, RFC 5321
_DOMAIN = re.compile(r"(?:[^\W_][\w-]{0,62}\.){1,8}[^\W\d_]{2,}\w*")
_IN_LOCAL = frozenset("._%+-")
_AT = re.compile("@|%40")
_FILE_NAME = re.compile(
    r"(?:[0-9.]+x\.(?:png|jpe?g|webp|gif|svg|avif|bmp|tiff?|heic|ico|pdf)|(?:[0-9]+\.)+[a-z]+)\Z",
    re.IGNORECASE,
)
"""What stands behind the sign in `logo@2x.png` and `python@3.11.rb`."""
# Mailboxes of a service, a role or a function are nobody's own (RFC 2142 and common use).
_ROLES = frozenset(
    (
        *("info", "marketing", "sales", "support", "abuse", "noc", "security", "postmaster"),
        *("hostmaster", "usenet", "news", "webmaster", "www", "uucp", "ftp", "git", "noreply"),
        *("no-reply", "donotreply", "do-not-reply", "help", "helpdesk", "contact", "hello"),
        *("service", "customerservice", "customer-service", "billing", "accounts", "returns"),
        *("orders", "press", "media", "jobs", "careers", "legal", "privacy", "feedback", "office"),
    )
)


def is_card_number(digits: str) -> bool:
    """Whether digits are a card's number: a network's prefix and length, and the Luhn check."""
    if not _NETWORKS.fullmatch(digits):
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - _DOUBLE_OVER if value > _DOUBLE_OVER else value
    return total % 10 == 0


def is_card_as_number(value: int) -> bool:
    """Whether a number, as data has it, is a card's number."""
    return value >= _SMALLEST_CARD and is_card_number(str(value))


def _cards(text: str, start: int) -> Iterator[Span]:
    for match in _CARD.finditer(text, start):
        if is_card_number("".join(filter(str.isdigit, match[0]))):
            yield match.start(), *match.span()


def is_role(address: str) -> bool:
    """Whether an address is a service's or a role's rather than a person's."""
    return plain_address(address).partition("@")[0] in _ROLES


def may_hold_email(text: str) -> bool:
    """Whether a text has the sign of an e-mail address, as it is or as URLs have it."""
    return "@" in text or "%40" in text


def plain_address(text: str) -> str:
    """Spell an address, which may come from a URL, in one way."""
    return text.lower().replace("%40", "@")


def email_spans(text: str, start: int = 0) -> Iterator[Span]:
    """Yield where e-mail addresses are, from a position on; user names in URLs are none.

    Nor are handles (`@ann@social.example`), or names of files and versions (`logo@2x.png`).
    """
    sign = _AT.search(text, start)
    while sign:
        at, after = sign.span()
        begin, lowest = at, max(start, at - _LOCAL_MOST)
        while begin > lowest and (text[begin - 1].isalnum() or text[begin - 1] in _IN_LOCAL):
            begin -= 1
        while begin < at and text[begin] in _IN_LOCAL:
            begin += 1
        domain = _DOMAIN.match(text, after) if begin < at else None
        if domain and not (
            _in_url(text, begin) or _is_handle(text, begin) or _FILE_NAME.match(domain[0])
        ):
            yield begin, begin, domain.end()
        sign = _AT.search(text, domain.end() if domain else after)


def _is_handle(text: str, begin: int) -> bool:
    before = text[max(0, begin - 2) : begin]
    return before[-1:] == "@" and not (before[:-1].isalnum() or before[:-1] in _IN_LOCAL)


def _in_url(text: str, begin: int) -> bool:
    """Tell whether `user:password` of a URL ends in what looks like a local part."""
    word = text[max(0, begin - 200) : begin]
    mark = word.rfind("://")
    return mark >= 0 and not any(char.isspace() or char == "/" for char in word[mark + 3 :])


CARD_RULE = rule(
    "card",
    rf"[0-9]{{4}}{_SIGN}?[0-9]{{4}}{_SIGN}?[0-9]{{2}}",
    _cards,
    rf"(?a:{_CARD_SHAPE}\w?(?:[.,-]\d?)?)",
)
EMAIL_RULE = Rule(
    "email",
    "@",
    may_hold_email,
    email_spans,
    rf"[^\s@%]{{1,{_LOCAL_MOST}}}+(?:%[^\s@]*+)?(?:@[^\s@]*)?",
)
