"""A tool that changes between the check of a call and its run: the call gets a result."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from pydantic import FilePath

from graphs import open_graph
from graphs.models import ScriptedModel
from tests.support import ALL_MODES, Mode, results, run
from tools import Contract, contract

pytestmark = pytest.mark.parametrize("mode", ALL_MODES)

APPROVED: Any = Command(resume={"decisions": [{"type": "approve"}]})


def paused_then(
    mode: Mode, folder: Path, args: dict[str, Any], before: Contract, after: Contract
) -> tuple[dict[str, Any], ScriptedModel]:
    """Pause for a call of one tool, and approve it where another has its name."""
    call = {"id": "c1", "name": before.name, "args": args}
    model = ScriptedModel(replies=[{"tool_calls": [call]}, "Done."])
    steps: Any = ((before, "Do it."), (after, APPROVED))
    for tool, given in steps:
        with open_graph("tool_calling", db=folder / "r.sqlite", model=model, tools=[tool]) as graph:
            output = run(mode, graph, given)
    return output, model


def pay_in(done: list[Any], schema: dict[str, Any]) -> Contract:
    described = {
        "name": "pay",
        "description": "Pay it; use it when asked to.",
        "parameters": schema,
    }
    return contract({**described, "function": lambda **given: done.append(given)})


def of(**kinds: str) -> dict[str, Any]:
    properties = {name: {"type": kind} for name, kind in kinds.items()}
    return {"type": "object", "properties": properties, "required": list(kinds)}


def test_a_function_that_takes_more_by_the_time_of_the_yes_is_not_run(
    mode: Mode, tmp_path: Path
) -> None:
    """Case APR-13: the thread is not lost."""
    done: list[Any] = []

    def pay(amount: int) -> str:
        """Pay it; use it when asked to."""
        done.append(amount)
        return "paid"

    def later(amount: int, currency: str) -> str:
        """Pay it; use it when asked to."""
        done.append((amount, currency))
        return "paid"

    changed = contract(later, name="pay")
    output, model = paused_then(mode, tmp_path, {"amount": 5}, contract(pay), changed)
    (result,) = results(output["messages"])
    assert (output["status"], done, result.status) == ("answered", [], "error")
    assert "currency" in result.text
    assert "currency" in str(model.requests[-1])


def test_a_schema_that_is_another_by_the_time_of_the_yes_is_not_given_old_arguments(
    mode: Mode, tmp_path: Path
) -> None:
    done: list[Any] = []
    before, after = pay_in(done, of(amount="integer")), pay_in(done, of(amount_cents="integer"))
    output, _ = paused_then(mode, tmp_path, {"amount": 5}, before, after)
    (result,) = results(output["messages"])
    assert (output["status"], done, result.status) == ("answered", [], "error")
    assert "amount_cents" in result.text


def test_what_was_valid_at_the_check_alone_is_a_result_too(mode: Mode, tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear Ann", encoding="utf-8")
    done: list[Any] = []

    def send(file: FilePath) -> str:
        """Send a file; use it when asked to."""
        done.append(file)
        return "sent"

    tool = contract(send)
    call = {"id": "c1", "name": "send", "args": {"file": str(file)}}
    model = ScriptedModel(replies=[{"tool_calls": [call]}, "Done."])
    with open_graph("tool_calling", db=tmp_path / "r.sqlite", model=model, tools=[tool]) as graph:
        run(mode, graph, "Send it.")
        file.unlink()
        output = run(mode, graph, APPROVED)
    (result,) = results(output["messages"])
    assert (output["status"], done, result.status) == ("answered", [], "error")


def test_the_error_of_an_outdated_call_holds_no_secret_of_its_arguments(
    mode: Mode, tmp_path: Path
) -> None:
    secret = "hunter2-of-ann"
    done: list[Any] = []
    before, after = pay_in(done, of(password="string")), pay_in(done, of(password="integer"))
    output, model = paused_then(mode, tmp_path, {"password": secret}, before, after)
    (result,) = results(output["messages"])
    assert (output["status"], done, result.status) == ("answered", [], "error")
    assert secret not in str(output)
    assert secret not in str(model.requests[-1])
    assert secret.encode() not in (tmp_path / "r.sqlite").read_bytes()
