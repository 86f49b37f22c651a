"""The audit log: one line of JSON an event, secrets filtered, whatever it holds."""

import json
import logging
from typing import Any

import pytest

from graphs.audit import Event, log
from tools.redact import Filter, in_force
from tools.redaction_policy import RedactionPolicy
from tools.redactor import redactor_for

KEY = "sk-live-9f8e7d6c5b4a3"


def line(caplog: pytest.LogCaptureFixture, **told: Any) -> dict[str, Any]:
    caplog.set_level(logging.INFO, logger="rungs.audit")
    log(Event(kind="tool_call", step=1, **told))
    read: dict[str, Any] = json.loads(caplog.records[-1].getMessage())
    return read


@pytest.mark.parametrize("field", ["tool", "call_id", "result", "user", "code"])
def test_a_secret_in_any_field_of_an_event_is_not_logged(
    field: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert line(caplog, **{field: f"a {KEY}"})[field] == "a [redacted]"


def test_what_json_escapes_hides_nothing(caplog: pytest.LogCaptureFixture) -> None:
    badge = RedactionPolicy(patterns=(("badge", r"\bB-\d{4}\b"),))
    with in_force(Filter(redactor_for(badge))):
        told = line(caplog, result="one\nB-1234\n", redacted={"badge": 1})
    assert told["result"] == "one\n[redacted]\n"
    assert told["redacted"] == {"badge": 1}


@pytest.mark.parametrize("value", [2**70, "\ud83c", float("nan")])
def test_a_value_that_json_has_not_costs_no_event(
    value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert "x" in line(caplog, arguments={"x": value})["arguments"]
