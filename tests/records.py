"""The record of the forced-output cases, and ways to run the graph that fills it."""

from datetime import date
from typing import Any, Literal

from langgraph.graph.state import CompiledStateGraph
from pydantic import BaseModel, Field

from graphs.forced_output import build
from graphs.models import ScriptedModel
from tests.support import Mode, run

Compiled = CompiledStateGraph[Any, Any, Any, Any]


class Deal(BaseModel):
    """Record a deal."""

    name: str = Field(description="Who it is with.")
    status: Literal["open", "closed"] = Field(description="How it stands.")
    amount: float = Field(description="What it is worth, a number.")
    due: date | None = Field(default=None, description="Until when, as YYYY-MM-DD.")
    tags: list[str] = Field(default=[], description="Words that it is filed under.")


GOOD: dict[str, Any] = {"name": "A", "status": "open", "amount": 3}


def called(*arguments: Any, name: str = "record_request", **more: Any) -> dict[str, Any]:
    """Script a reply with a call for each arguments: parsed, or raw where they are text."""
    calls = []
    for place, given in enumerate(arguments):
        key = "args_raw" if isinstance(given, str) else "args"
        calls.append({"id": "abc"[place], "name": name, key: given})
    return {"tool_calls": calls, **more}


def fill(
    mode: Mode, reply: Any, schema: Any = Deal, text: str = "A text."
) -> tuple[dict[str, Any], ScriptedModel]:
    """Run the graph on one scripted reply; return what came of it, and the model."""
    model = ScriptedModel(replies=[reply])
    graph: Compiled = build(model=model, schema=schema).compile()
    return run(mode, graph, text), model


def rejection(mode: Mode, reply: Any, schema: Any = Deal) -> dict[str, Any]:
    """Run the graph on one scripted reply that is to be rejected; the model is called once."""
    output, model = fill(mode, reply, schema)
    assert output["record"] is None
    assert output["answer"] is None
    assert output["status"] == "rejected"
    assert output["stop_reason"]
    assert len(model.requests) == 1
    assert output["usage"]["model_calls"] == 1
    found = output["rejection"]
    assert isinstance(found, dict)
    assert found["errors"]
    assert all(isinstance(error, str) and "\n" not in error for error in found["errors"])
    return found
