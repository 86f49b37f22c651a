"""Streamed chunks, put into the shape that langchain-openai reads without loss."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def repaired(chunk: dict[str, Any]) -> dict[str, Any]:
    """Return the chunk with every tool-call piece complete: `index`, `id`, `function`.

    The stock reader raises at arguments that are an object, and drops all calls of a chunk when one
    has no index. An id in a delta is left out: a server that repeats it would make the pieces of a
    reply and of the one asked for in its stead look like one message's. A chunk in order is
    returned as it is.
    """
    choices = chunk.get("choices")
    if not choices or not isinstance(choices[0], Mapping):
        return chunk
    delta = choices[0].get("delta")
    if not isinstance(delta, Mapping):
        return chunk
    calls = delta.get("tool_calls") or ()
    if "id" not in delta and all(_in_order(call) for call in calls):
        return chunk
    delta = {key: value for key, value in delta.items() if key != "id"}
    if calls:
        delta["tool_calls"] = [
            call if _in_order(call) else _piece(call) for call in calls if isinstance(call, Mapping)
        ]
    first = {**choices[0], "delta": delta}
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
