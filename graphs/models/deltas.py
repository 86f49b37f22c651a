"""Streamed chunks, put into the shape that langchain-openai reads without loss."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def repaired(chunk: dict[str, Any]) -> dict[str, Any]:
    """Return the chunk with every tool-call piece complete: `index`, `id`, `function`.

    The stock reader raises at arguments that are an object, and drops all calls of a chunk when one
    has no index. A chunk in order is returned as it is.
    """
    choices = chunk.get("choices")
    if not choices or not isinstance(choices[0], Mapping):
        return chunk
    delta = choices[0].get("delta")
    calls = delta.get("tool_calls") if isinstance(delta, Mapping) else None
    if not calls or all(_in_order(call) for call in calls):
        return chunk
    assert delta is not None  # noqa: S101 - it held the calls
    pieces = [_piece(call) for call in calls if isinstance(call, Mapping)]
    first = {**choices[0], "delta": {**delta, "tool_calls": pieces}}
    return {**chunk, "choices": [first, *choices[1:]]}


def _in_order(call: Any) -> bool:
    if not isinstance(call, Mapping) or "index" not in call:
        return False
    function = call.get("function")
    if not isinstance(function, Mapping):
        return False
    texts = (function.get("arguments"), function.get("name"), call.get("id"))
    return all(text is None or isinstance(text, str) for text in texts)


def _piece(call: Mapping[str, Any]) -> dict[str, Any]:
    given = call.get("function")
    function = dict(given) if isinstance(given, Mapping) else {}
    arguments, name, call_id = function.get("arguments"), function.get("name"), call.get("id")
    if arguments is not None and not isinstance(arguments, str):
        function["arguments"] = json.dumps(arguments, ensure_ascii=False)
    function["name"] = name if isinstance(name, str) else None
    index = call.get("index")
    return {
        **call,
        "id": call_id if isinstance(call_id, str) else None,
        "index": index if isinstance(index, int) else None,
        "function": function,
    }
