"""Takes out of texts and data what one policy says."""

from __future__ import annotations

import fnmatch
import functools
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from typing import Any

from tools.command_secrets import COMMAND_RULE
from tools.credential_rules import CREDENTIAL_RULES
from tools.finder import finder
from tools.marked_secrets import marked_rule
from tools.named_secrets import named_rule
from tools.own_rules import own_rule
from tools.personal_rules import (
    CARD_RULE,
    EMAIL_RULE,
    is_card_as_number,
    is_role,
    may_hold_email,
    plain_address,
)
from tools.redaction_policy import RedactionPolicy
from tools.redaction_rules import REDACTED, Hit, Rule, merged
from tools.secret_names import is_field, is_secret_name
from tools.table_data import columns_of, headed, split_table, value_keys
from tools.table_secrets import table_rule
from tools.told_secrets import TOLD_RULE

Found = MutableMapping[str, int]
"""Counts by kind of what was taken out."""

Own = Callable[[], Collection[str]]
"""Returns the e-mail addresses, in lower case, that the reader may see."""

_SHORT = 500
"""Characters of a text that is looked at by one pattern for all rules."""
_LOOK_BACK = 64
"""Characters before a position that tell whether something may begin at it."""

_BY_NAME = (named_rule, marked_rule, table_rule)


@functools.cache
def _credentials_by_name() -> tuple[Rule, ...]:
    """Make the rules when they are first needed: their patterns take a while to compile."""
    return tuple(make("credential") for make in _BY_NAME)


_SHAPES = (TOLD_RULE, COMMAND_RULE, CARD_RULE)


class Redactor:
    """Takes out credentials, card numbers, and what a policy names.

    It keeps true that
    * a clean text or value comes back as it is;
    * of matches that overlap one mark is left, and nothing of any of them;
    * redacting twice changes nothing more.

    Args:
        policy: Fields, patterns and texts that stay.
    """

    def __init__(self, policy: RedactionPolicy) -> None:
        self._policy = policy
        named = policy.fields
        fields = tuple(make("field", named) for make in _BY_NAME) if named else ()
        hinted = (*CREDENTIAL_RULES, *_credentials_by_name(), *_SHAPES, *fields)
        own = tuple(own_rule(*pattern) for pattern in policy.patterns)
        self.rules: tuple[Rule, ...] = (*hinted, *own)
        self._hinted, self._own = hinted, own
        self._hint_of_any = finder("|".join(rule.hint for rule in hinted))
        allowed = "|".join(fnmatch.translate(text) for text in policy.allow)
        self._allowed = re.compile(allowed) if allowed else None

    def hides(self, name: str) -> bool:
        """Whether the value of a field of this name is never shown."""
        return is_secret_name(name) or is_field(name, self._policy.fields)

    def text(self, text: str, found: Found | None = None, own: Own | None = None) -> str:
        """Redact a text. Redact before cutting to length: half a match may no longer look like one.

        Args:
            text: Any text.
            found: Where what is taken out is counted.
            own: The addresses that stay; None keeps every e-mail address.
        """
        if not (self._may_be_any(text) or self._own or (own and may_hold_email(text))):
            return text  # as most are
        hits = merged(self.hits(text, own=own))
        return replaced(text, hits, 0, len(text), found) if hits else text

    def _may_be_any(self, text: str) -> bool:
        """Whether a text may hold anything at all; most do not.

        All hints in one pattern have more states than their engine keeps, which a long text of
        many kinds makes it find anew again and again: such a text is passed over once a rule.
        """
        if len(text) <= _SHORT:
            return self._hint_of_any(text)
        return any(rule.may_be(text) for rule in self._hinted)

    def hits(self, text: str, start: int = 0, *, own: Own | None = None) -> Iterator[Hit]:
        """Yield what is to be taken out, from a position on; the hits may overlap."""
        near = text[max(0, start - _LOOK_BACK) :] if start else text
        for rule in (*(self._hinted if self._may_be_any(near) else ()), *self._own):
            if rule.may_be(near):
                for anchor, begin, end in rule.find(text, start):
                    if self._allowed is None or not self._allowed.match(text[begin:end].lower()):
                        yield Hit(anchor, begin, end, rule.kind)
        if own is None or not may_hold_email(near):
            return
        for anchor, begin, end in EMAIL_RULE.find(text, start):
            address = plain_address(text[begin:end])
            if is_role(address) or (self._allowed and self._allowed.match(address)):
                continue
            if address not in own():
                yield Hit(anchor, begin, end, EMAIL_RULE.kind)

    def data(self, value: Any, found: Found | None = None, own: Own | None = None) -> Any:
        """Redact JSON-like data: texts anywhere in it, and whatever a hidden field holds."""
        if isinstance(value, str):
            return self.text(value, found, own)
        if isinstance(value, dict):
            told = headed(value, self.hides)
            tables = split_table(value, self.hides)
            return {
                self.text(key, found, own) if isinstance(key, str) else key: [
                    self._row(row, tables[key], found, own) for row in item
                ]
                if key in tables
                else self._field(told.get(key, key), item, found, own)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            if hidden := columns_of(value, self.hides):
                return [value[0], *(self._row(row, hidden, found, own) for row in value[1:])]
            return [self.data(item, found, own) for item in value]
        if type(value) is int and is_card_as_number(value):
            return _counted("card", found)
        return value

    def _row(
        self, row: Any, hidden: Mapping[int, str], found: Found | None, own: Own | None
    ) -> list[Any]:
        """Redact a row of a table, some columns of which are those of hidden names."""
        return [self._field(hidden.get(n, ""), cell, found, own) for n, cell in enumerate(row)]

    def _field(self, key: Any, value: Any, found: Found | None, own: Own | None) -> Any:
        if not isinstance(key, str) or value in (None, "", REDACTED):
            return self.data(value, found, own)
        if is_field(key, self._policy.fields):
            return _counted("field", found)
        if is_secret_name(key):
            if isinstance(value, str) or (
                isinstance(value, int | float) and not isinstance(value, bool)
            ):
                return _counted("credential", found)
            if isinstance(value, dict) and (keys := value_keys(value)):
                inner = dict.fromkeys(keys, key)
                return {
                    self.text(name, found, own) if isinstance(name, str) else name: self._field(
                        inner.get(name, name), item, found, own
                    )
                    for name, item in value.items()
                }
            if isinstance(value, list | tuple):
                return [
                    _counted("credential", found)
                    if isinstance(item, str)
                    else self.data(item, found, own)
                    for item in value
                ]
        return self.data(value, found, own)

    def result(self, text: str, found: Found | None = None, own: Own | None = None) -> str:
        """Redact a tool's result; one that is JSON stays JSON, and loses whole hidden fields."""
        if text[:1] in {"{", "["} and (self._may_be_any(text) or may_hold_email(text)):
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                return self.text(text, found, own)
            clean = self.data(value, found, own)
            if clean != value:
                text = json.dumps(clean, ensure_ascii=False, separators=(",", ":"))
        return self.text(text, found, own)


def replaced(text: str, hits: list[Hit], start: int, end: int, found: Found | None = None) -> str:
    """Return a part of a text, each hit in it replaced by the mark, and counted."""
    pieces: list[str] = []
    done = start
    for hit in hits:
        pieces += [text[done : hit.start], _counted(hit.kind, found)]
        done = hit.end
    return "".join([*pieces, text[done:end]])


def _counted(kind: str, found: Found | None) -> str:
    if found is not None:
        found[kind] = found.get(kind, 0) + 1
    return REDACTED


@functools.lru_cache(maxsize=64)
def redactor_for(policy: RedactionPolicy) -> Redactor:
    """Return the redactor of a policy, made once."""
    return Redactor(policy)
