"""The search log: what was searched for, what was returned, and which tools were called then.

`rungs tools check` reads it, so that descriptions which mislead show up (seed "Deferred tool
search"). It lies in the store of the memory file, one record a search, under the namespace
`NAMESPACE`; the key is the search's thread and call id, so that a search which a resumed run makes
again is recorded once. What is called later in the same request is written into the record too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict, cast

from langgraph.store.base import BaseStore, GetOp, PutOp, SearchItem, SearchOp

from tools.note_records import Steps, ado, do
from tools.redact import redact
from tools.text import one_line, shorten

NAMESPACE = ("searches",)

SHOWN = 200
"""Searches that are read back; SPEC section 10."""

QUERY_CHARACTERS = 500
_PAGE = 200


class Search(TypedDict):
    """One search, as it lies in the store: plain JSON values.

    Attributes:
        query: As the model gave it, secrets filtered, in one line of at most 500 characters.
        limit: How many tools it asked for.
        returned: Their names, best first.
        matched: How many tools matched at all.
        available: How many the catalog held.
        thread: The thread's id, if there was one.
        user: The user's id, if there was one.
        step: The tool round of the request, counted from 1.
        call_id: The id of the `tool_search` call.
        at: When, ISO 8601 in UTC.
        called: The tools that the model called after it in the same request, in order.
    """

    query: str
    limit: int
    returned: list[str]
    matched: int
    available: int
    thread: str | None
    user: str | None
    step: int
    call_id: str
    at: str
    called: list[str]


def record(store: BaseStore, search: Search) -> None:
    """Keep one search."""
    do(store, _record(search))


async def arecord(store: BaseStore, search: Search) -> None:
    """Keep one search; no blocking call."""
    await ado(store, _record(search))


def record_calls(
    store: BaseStore, thread: str | None, call_ids: Iterable[str], called: Sequence[str]
) -> None:
    """Write down which tools were called after searches.

    Args:
        store: Where the log is.
        thread: The searches' thread.
        call_ids: Of the `tool_search` calls of the request so far; unknown ones are left out.
        called: The tools called since, in order; they are added to those that are there.
    """
    do(store, _record_calls(thread, list(call_ids), list(called)))


async def arecord_calls(
    store: BaseStore, thread: str | None, call_ids: Iterable[str], called: Sequence[str]
) -> None:
    """Do `record_calls`; no blocking call."""
    await ado(store, _record_calls(thread, list(call_ids), list(called)))


def read_log(store: BaseStore, limit: int = SHOWN) -> list[Search]:
    """Return the newest searches, newest first; what is no such record is left out."""
    return do(store, _read(limit))


async def aread_log(store: BaseStore, limit: int = SHOWN) -> list[Search]:
    """Do `read_log`; no blocking call."""
    return await ado(store, _read(limit))


def _record(search: Search) -> Steps[None]:
    query = shorten(one_line(redact(search["query"])), QUERY_CHARACTERS)
    value: dict[str, Any] = {**search, "query": query}
    yield [PutOp(NAMESPACE, _key(search["thread"], search["call_id"]), value)]


def _record_calls(thread: str | None, call_ids: list[str], called: list[str]) -> Steps[None]:
    if not (call_ids and called):
        return
    keys = [_key(thread, call_id) for call_id in call_ids]
    items = yield [GetOp(NAMESPACE, key) for key in keys]
    found = [cast("Any", item).value for item in items if item is not None]
    puts = [
        PutOp(
            NAMESPACE,
            _key(thread, value["call_id"]),
            {**value, "called": [*value["called"], *called]},
        )
        for value in found
        if _is_search(value)
    ]
    if puts:
        yield [*puts]


def _read(limit: int) -> Steps[list[Search]]:
    """Read every page: what a store orders by is its own affair, and the newest are wanted."""
    found: list[Search] = []
    offset = 0
    while True:
        (page,) = yield [SearchOp(NAMESPACE, limit=_PAGE, offset=offset)]
        items = cast("list[SearchItem]", page)
        found += [cast("Search", item.value) for item in items if _is_search(item.value)]
        if len(items) < _PAGE:
            return sorted(found, key=lambda search: search["at"], reverse=True)[:limit]
        offset += _PAGE


def _key(thread: str | None, call_id: str) -> str:
    """Name a search by its thread and call; call ids are unique within a thread."""
    return hashlib.sha256(f"{thread or ''}\0{call_id}".encode("utf-8", "replace")).hexdigest()[:32]


def _is_search(value: dict[str, Any]) -> bool:
    """Leave out what another program, or another version, may have stored here."""
    texts = all(isinstance(value.get(key), str) for key in ("query", "call_id", "at"))
    lists = all(isinstance(value.get(key), list) for key in ("returned", "called"))
    return texts and lists and isinstance(value.get("matched"), int)
