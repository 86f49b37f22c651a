"""A secret planted in each place that is redacted: it is in no file, stream, log or request."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command
from langgraph.config import get_stream_writer
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from graphs.tracing import CONTENT
from tests.support import ALL_MODES, Mode
from tests.test_redaction_channels import PASSWORD, TOKEN, Door, Place, calling, place
from tests.test_tracing import spans
from tools import contract
from tools.notes import save_note

__all__ = ["place", "spans"]

TOLD = f'{{"contraseña": "{PASSWORD}"}} and {TOKEN}'
"""By its name in another language, and by its shape."""


def arguments(place: Place, mode: Mode) -> None:
    door = Door()
    args = {"user": "ann", "password": PASSWORD, "note": TOLD}
    place.ask(
        [calling("log_in", args, TOLD), "done"],
        [contract(door.log_in, effect="read_only")],
        mode=mode,
    )
    assert door.came == [("ann", PASSWORD, TOLD)]


def results(place: Place, mode: Mode) -> None:
    def read_file(name: str) -> dict[str, Any]:
        """Read a file."""
        rows = [["user", "Passwort"], ["ann", PASSWORD]]
        return {"密码": PASSWORD, "rows": rows, "csv": f"password\n{PASSWORD}1\n", "text": TOLD}

    tool = contract(read_file, effect="read_only")
    place.ask([calling("read_file", {"name": "a"}), TOLD], [tool], mode=mode)


def errors(place: Place, mode: Mode) -> None:
    def fail(n: int) -> str:
        """Fail."""
        raise RuntimeError(TOLD)

    tool = contract(fail, effect="read_only")
    place.ask([calling("fail", {"n": 1}), ValueError(TOLD)], [tool], mode=mode)


def notes(place: Place, mode: Mode) -> None:
    tool = contract(save_note, effect="state_changing", requires_confirmation=False)
    context = {"user_id": "ann"}
    place.ask([calling("save_note", {"text": TOLD}), "done"], [tool], mode=mode, context=context)
    place.ask(["done"], [tool], mode=mode, context=context)
    kept = f"Thought: keep\nAction: update_notes[[x] {TOLD}]"
    place.ask([kept, "Final Answer: done"], [], mode=mode, name="react_todo_notes", context=context)


def summaries(place: Place, mode: Mode) -> None:
    def search(query: str) -> str:
        """Search."""
        return f"Observation of {query} " + "word " * 200

    turns, summed = iter(range(1, 100)), []

    def reply(messages: Any, _: Any) -> str:
        if "compress the history" in str(messages[0].text):
            summed.append(1)
            return f"- used {TOLD}"
        number = next(turns)
        return f"Thought: t\nAction: search[item {number}]" if number < 8 else "Final Answer: done"

    tool = contract(search, effect="read_only")
    window = {"context_window": 2500}
    place.ask([reply] * 40, [tool], mode=mode, name="react_compaction", context=window)
    assert summed


def approval_payloads(place: Place, mode: Mode) -> None:
    door = Door()
    tool = contract(door.log_in, effect="state_changing")
    args = {"user": "ann", "password": PASSWORD, "note": TOLD}
    paused = place.ask([calling("log_in", args)], [tool], mode=mode)
    assert PASSWORD not in repr(paused["__interrupt__"])
    decision: Any = {"type": "edit", "edited_action": {"name": "log_in", "args": args}}
    place.ask(["done"], [tool], Command(resume={"decisions": [decision]}), mode=mode)
    assert door.came == [("ann", PASSWORD, TOLD)]


def logs_and_traces(place: Place, mode: Mode) -> None:
    def work(n: int) -> str:
        """Work, and tell of it."""
        get_stream_writer()({"progress": TOLD})
        return TOLD

    tool = contract(work, effect="read_only")
    replies = [calling("work", {"n": 1}), calling("nobody", {"password": PASSWORD}), TOLD]
    place.ask(replies, [tool], mode=mode)


PLACES: tuple[Callable[[Place, Mode], None], ...] = (
    *(arguments, results, errors, notes, summaries, approval_payloads, logs_and_traces),
)


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize("plant", PLACES, ids=lambda plant: plant.__name__)
def test_a_secret_planted_in_each_place_that_is_redacted_is_found_nowhere(
    plant: Callable[[Place, Mode], None],
    mode: Mode,
    place: Place,
    spans: InMemorySpanExporter,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the memory file, the streams, the callbacks, the logs, the spans, the model's requests."""
    monkeypatch.setenv(CONTENT, "true")
    plant(place, mode)
    place.clean(PASSWORD, TOKEN)
    told = [span.to_json() for span in spans.get_finished_spans()]
    assert told
    assert any("[redacted]" in said for said in (*place.requests, *place.streamed, *told))
    for said in told:
        assert PASSWORD not in said
        assert TOKEN not in said
