"""Notes cases that a user's notes and the notes file of a run have in common."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphs import open_graph
from graphs.models import ScriptedModel
from tests.support import MODES, Mode, result_for, results, run
from tools.notes import NOTES_LIMIT, delete_note, read_notes, save_note

pytestmark = pytest.mark.parametrize("mode", MODES)


def saving(*texts: str) -> dict[str, Any]:
    return {
        "tool_calls": [
            {"id": f"call {text}", "name": "save_note", "args": {"text": text}} for text in texts
        ]
    }


def at_once(mode: Mode, graph: Any, questions: list[str]) -> list[dict[str, Any]]:
    """Run each question in a thread of its own, all at the same time."""
    context = {"user_id": "ann", "max_tool_calls": 20}
    given: list[Any] = [{"messages": [{"role": "user", "content": q}]} for q in questions]
    configs: list[Any] = [{"configurable": {"thread_id": q}} for q in questions]
    if mode == "invoke":
        with ThreadPoolExecutor(len(questions)) as pool:
            made = [
                pool.submit(graph.invoke, one, config, context=context)
                for one, config in zip(given, configs, strict=True)
            ]
            return [one.result() for one in made]

    async def gathered() -> list[dict[str, Any]]:
        runs = zip(given, configs, strict=True)
        return list(
            await asyncio.gather(
                *(graph.ainvoke(one, config, context=context) for one, config in runs)
            )
        )

    return asyncio.run(gathered())


def test_runs_of_one_user_that_save_at_the_same_time_lose_no_note(
    mode: Mode, tmp_path: Path
) -> None:
    """Case NOT-01: two runs with a note each, and one with twenty in a reply."""
    many = [f"n{number:02d}" for number in range(3, 23)]
    wanted = {"A": ["n1"], "B": ["n2"], "C": many}

    def reply(messages: Any, _: Any) -> Any:
        asked = next(str(m.text) for m in messages if m.type == "human")
        return "done" if messages[-1].type == "tool" else saving(*wanted[asked])

    model = ScriptedModel(replies=[reply] * 6)
    db = tmp_path / "memory.sqlite"
    with open_graph("tool_calling", db=db, model=model, tools=[_no_yes()]) as graph:
        outputs = at_once(mode, graph, list(wanted))
        kept = [note.text for note in read_notes(graph.memory.store, "ann")]
        again = [note.text for note in read_notes(graph.memory.store, "ann")]
    assert [output["answer"] for output in outputs] == ["done"] * 3
    assert sorted(kept) == sorted(["n1", "n2", *many])
    assert again == kept
    told = [result.text for output in outputs for result in results(output["messages"])]
    assert told == ["Noted."] * 22


def test_a_note_too_many_is_refused_with_the_limit_and_a_way_out(
    mode: Mode, tmp_path: Path
) -> None:
    """Case NOT-09: no older note is dropped for it."""
    first = [f"note {number}" for number in range(NOTES_LIMIT)]
    replies = [saving(*first[n : n + 20]) for n in range(0, NOTES_LIMIT, 20)]
    model = ScriptedModel(
        replies=[*replies, saving("one more"), "I could not keep that.", saving("one more"), "kept"]
    )
    db = tmp_path / "memory.sqlite"
    with open_graph("tool_calling", db=db, model=model, tools=[_no_yes()]) as graph:
        output = run(mode, graph, "?", context={"user_id": "ann", "max_tool_calls": 200})
        refused = result_for(output["messages"], "call one more")
        store = graph.memory.store
        notes = read_notes(store, "ann")
        assert sorted(note.text for note in notes) == sorted(first)
        assert delete_note(store, "ann", notes[0].key)
        later = run(mode, graph, "Again?", thread="u", context={"user_id": "ann"})
        assert len(read_notes(store, "ann")) == NOTES_LIMIT
    assert (refused.status, output["status"]) == ("error", "answered")
    assert f"{NOTES_LIMIT} notes" in refused.text
    assert "the note was not saved" in refused.text
    assert "delete" in refused.text
    assert result_for(later["messages"], "call one more").text == "Noted."


def _no_yes() -> Any:
    """Return `save_note` as the shop's tools file has it: nobody is asked for a yes."""
    from tools.contract import contract

    return contract(save_note, effect="state_changing", requires_confirmation=False)
