"""`search_catalog`: answers `tool_search`, and loads what it found."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

from langchain_core.messages import ToolCall, ToolMessage

from graphs import audit
from graphs.context import DeferredContext, ToolSearchContext
from graphs.node import Node, Scope, Update
from graphs.reach import Reach, may_run
from graphs.search_calls import is_search, log_search
from graphs.state import State, current, loaded_tools
from graphs.tool_results import good_result, show
from graphs.transcript import failed_result
from graphs.waiting import Steps, Wait
from tools import SearchError
from tools.search_tools import as_found, search

if TYPE_CHECKING:
    from tools.catalog import Catalog, Found, Match


def search_catalog(
    catalog: Catalog,
    reach: Reach,
    *,
    context: type[DeferredContext | ToolSearchContext],
    loads: bool,
) -> Node:
    """Make the node that answers the searches of the newest reply.

    It keeps true that
    * each search gets exactly one result, with the tools that it found, their schemas, and how many
      match and exist; a search without a query, or with a limit below 1, gets an error;
    * what a search shows is what it loads, for the rest of the run, by name and in that order;
    * no tool is shown, or counts as a match, that the run's settings keep from running: the best of
      the others are;
    * each search is kept in the log with what it returned; the other calls of the reply go on.

    Args:
        catalog: What is searched, as it is at each search.
        reach: The tools that exist.
        context: The variant's settings.
        loads: Whether what is found can be called directly from then on.
    """

    def body(state: State, scope: Scope) -> Steps[Update]:
        progress = current(state)
        step = progress["rounds"] if progress else 0
        calls = state.get("calls", [])
        messages: list[ToolMessage] = []
        loaded = loaded_tools(state)
        for call in calls:
            if not is_search(call):
                continue
            result, names = yield from _answer(catalog, call, scope)
            messages.append(reach.answer(call, result))
            loaded += [name for name in names if name not in loaded]
            audit.tool_call(scope, call, messages[-1], step=step)
            if result.status == "success":
                yield from log_search(scope, call, messages[-1], step=step)
        update: Update = {
            "messages": messages,
            "calls": [call for call in calls if not is_search(call)],
        }
        return {**update, "loaded": loaded} if loads else update

    return Node("search_catalog", body, context, reach.tools)


def _answer(catalog: Catalog, call: ToolCall, scope: Scope) -> Steps[tuple[ToolMessage, list[str]]]:
    """Search, and return the result and the names of the tools in it."""
    settings = scope.context
    if not isinstance(settings, DeferredContext | ToolSearchContext):
        raise TypeError(f"{type(settings).__name__} does not say how many tools a search returns")
    default, args = settings.search_results, call["args"]

    def found() -> Found:
        allowed = (lambda tool: may_run(tool, settings)) if settings.read_only else None
        return search(catalog, args["query"], args.get("limit"), default, allowed)

    started = time.perf_counter()
    try:
        # A large catalog, and the first use of an embedding, may take longer than a loop can wait.
        answer: Found = yield Wait(found, lambda: asyncio.to_thread(found))
    except SearchError as error:
        return failed_result(call, str(error), "invalid_arguments"), []
    text, names = _fitting(answer, list(answer), settings.tool_result_limit)
    told = {
        "found": names,
        "matched": answer.matched,
        "available": answer.available,
        "seconds": round(time.perf_counter() - started, 6),
    }
    return good_result(call, show(text, settings.tool_result_limit).text, told), names


def _fitting(answer: Found, matches: list[Match], most: int) -> tuple[str, list[str]]:
    """Write as many of the best matches as a result may hold, whole: half a schema is none."""
    while True:
        shown: dict[str, Any] = as_found(answer, matches)
        text = json.dumps(shown, ensure_ascii=False)
        if len(text) <= most or len(matches) <= 1:
            return text, [match.tool.name for match in matches]
        matches = matches[:-1]
