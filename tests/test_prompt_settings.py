"""Prompts as settings: shown on their nodes, edited for one run, their files read at run time."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import prompts
from graphs import GRAPHS, open_graph
from graphs.context import ToolRoundsContext, read_context
from graphs.errors import UsageError
from graphs.models import ScriptedModel
from graphs.prompt_settings import PromptSetting
from graphs.react.context import ReactContext
from prompts import TemplateError, prompt_file
from tests.cli import home, rungs
from tests.reacting import Log
from tests.support import MODES, Mode, compiled, run

__all__ = ["home"]

FOLDER = Path(prompts.__file__).parent
EDITED = "You are a parrot of {{company}}.\n{{memory_notes}}"
REACT = "Say it all.\n{{tool_descriptions}}\nQ: {{question}}"
NO_RUN = {"judge"}
"""The prompts that no graph sends."""

SETTINGS = [
    pytest.param(name, field, setting, id=f"{name}-{field}")
    for name, module in GRAPHS.items()
    for field, setting in module.Context.prompt_settings.items()
]


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put other files in the place of prompts, as an editor would."""
    monkeypatch.setattr(prompts.file, "LOOK_EVERY", 0.0)

    def write(name: str, text: str) -> Path:
        path = tmp_path / f"{name}.md"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr(prompt_file(name), "_path", path)
        return path

    return write


@pytest.fixture(autouse=True)
def _files_as_they_are() -> Iterator[None]:
    yield
    for path in FOLDER.glob("*.md"):
        prompt_file(path.stem).look()


def test_every_prompt_that_a_graph_sends_is_a_setting_of_it() -> None:
    files = {
        setting.file
        for module in GRAPHS.values()
        for setting in module.Context.prompt_settings.values()
    }
    assert files == {path.stem for path in FOLDER.glob("*.md")} - NO_RUN


@pytest.mark.parametrize(("name", "field", "setting"), SETTINGS)
def test_a_prompt_is_shown_on_its_nodes_with_the_text_of_its_file(
    name: str, field: str, setting: PromptSetting
) -> None:
    graph = GRAPHS[name].graph
    shown = graph.get_context_jsonschema()["properties"][field]
    text = (FOLDER / f"{setting.file}.md").read_text(encoding="utf-8")
    assert shown["type"] == "string"
    assert shown["default"] == text.rstrip("\n")
    assert shown["langgraph_type"] == "prompt"
    assert shown["langgraph_nodes"]
    assert set(shown["langgraph_nodes"]) <= set(graph.nodes)
    for place in setting.names:
        assert f"{{{{{place}}}}}" in shown["description"]


@pytest.mark.parametrize(("name", "field", "setting"), SETTINGS)
def test_an_edited_prompt_with_an_unknown_place_is_one_clear_error_and_nothing_is_asked(
    name: str, field: str, setting: PromptSetting
) -> None:
    model = ScriptedModel(replies=[])
    text = f"{prompt_file(setting.file).text}\n{{{{compny}}}}"
    with pytest.raises(UsageError, match="compny") as caught:
        read_context(GRAPHS[name].Context, {field: text})
    assert str(caught.value).startswith(f"context: {field}: unknown placeholder {{{{compny}}}}")
    assert "\n" not in str(caught.value)
    with pytest.raises(ValidationError, match=field):
        run("invoke", compiled(model, name=name), "Hello", context={field: text})
    assert not model.requests


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("You work for {{company}}.", "{{memory_notes}} is missing"),
        ("x" * 100_001, "at most 100000 characters"),
        ("{{company}} {{memory_notes}} }}", "without its partner"),
    ],
)
def test_an_edited_prompt_keeps_the_rules_of_templates_and_its_bounds(text: str, why: str) -> None:
    if len(text) > 1000:
        text += "{{company}} {{memory_notes}}"
    with pytest.raises(UsageError, match=f"context: system_prompt: .*{why}"):
        read_context(ToolRoundsContext, {"system_prompt": text})


def test_an_edited_react_prompt_must_have_its_question_below_the_rules() -> None:
    text = "Question: {{question}}\n{{tool_descriptions}}"
    with pytest.raises(UsageError, match=r"react_prompt: \{\{question\}\} must stand below"):
        read_context(ReactContext, {"react_prompt": text})


@pytest.mark.parametrize("mode", MODES)
def test_a_prompt_edited_for_one_run_is_sent_in_that_run_alone(mode: Mode) -> None:
    model = ScriptedModel(replies=["One.", "Two."])
    graph = compiled(model)
    run(mode, graph, "First", context={"system_prompt": EDITED, "company": "Fjord"})
    run(mode, graph, "Second", context={"system_prompt": "  "})
    first, second = (str(request.messages[0].text) for request in model.requests)
    assert first.startswith("You are a parrot of Fjord.\n")
    assert second.startswith("You are a support assistant for Globex.")


@pytest.mark.parametrize("mode", MODES)
def test_an_edited_file_is_sent_without_building_the_graph_anew(mode: Mode, edit: Any) -> None:
    model = ScriptedModel(replies=["One.", "Two.", "Three."])
    graph = compiled(model)
    path = edit("system_prompt_with_tools", EDITED)
    run(mode, graph, "First")
    path.write_text(EDITED.replace("parrot", "crow of the coast"), encoding="utf-8")
    run(mode, graph, "Second")
    first, second = (str(request.messages[0].text) for request in model.requests)
    assert first.startswith("You are a parrot of Globex.")
    assert second.startswith("You are a crow of the coast of Globex.")
    assert (
        GRAPHS["tools_in_context"]
        .graph.get_context_jsonschema()["properties"]["system_prompt"]["default"]
        .startswith("You are a crow")
    )


def test_on_an_event_loop_the_form_has_an_edited_text_at_the_second_look_at_the_latest(
    edit: Any,
) -> None:
    edit("one_call", EDITED)

    async def shown_twice() -> list[str]:
        texts = []
        for _ in range(2):
            schema = GRAPHS["one_call"].Context.model_json_schema()
            texts.append(schema["properties"]["one_call_prompt"]["default"])
            await asyncio.get_running_loop().run_in_executor(None, prompt_file("one_call").look)
        return texts

    _, second = asyncio.run(shown_twice())
    assert second == EDITED


@pytest.mark.parametrize("mode", MODES)
def test_a_file_that_was_edited_wrongly_is_one_clear_error_and_mended_it_is_sent(
    mode: Mode, edit: Any
) -> None:
    model = ScriptedModel(replies=["Fine."])
    graph = compiled(model)
    path = edit("system_prompt_with_tools", "{{company}} {{nothing}}")
    known = r"prompts/system_prompt_with_tools\.md: unknown placeholder \{\{nothing\}\}; known are"
    with pytest.raises(TemplateError, match=known):
        run(mode, graph, "Hello")
    path.unlink()
    with pytest.raises(TemplateError, match=r"system_prompt_with_tools\.md can't be read"):
        run(mode, graph, "Hello")
    path.write_text(EDITED, encoding="utf-8")
    assert run(mode, graph, "Hello")["answer"] == "Fine."


def test_an_edited_file_loses_its_list_of_tools_to_the_one_that_is_true(edit: Any) -> None:
    model = ScriptedModel(replies=["Fine."])
    graph = compiled(model, [Log().tool("look_up")])
    edit("system_prompt_with_tools", f"{EDITED}\n- search_docs(query): search")
    run("invoke", graph, "Hello")
    (request,) = model.requests
    assert "- look_up(text): Do look_up." in str(request.messages[0].text)
    assert "search_docs" not in str(request.messages[0].text)


@pytest.mark.parametrize("mode", MODES)
def test_each_step_of_the_workflow_takes_the_prompt_that_was_edited_for_it(mode: Mode) -> None:
    model = ScriptedModel(replies=["a", "b", "The answer."])
    graph = compiled(model, name="fixed_workflow")
    edited = {
        f"{step}_prompt": f"Do {step} at {{{{company}}}}. {{{{memory_notes}}}}"
        for step in ("retrieve", "retrieve_again", "synthesize")
    }
    run(mode, graph, "Hello", context=edited)
    told = [str(request.messages[0].text).split(" at ")[0] for request in model.requests]
    assert told == ["Do retrieve", "Do retrieve_again", "Do synthesize"]


def test_the_ladder_hands_an_edited_prompt_on_to_its_rung() -> None:
    model = ScriptedModel(replies=["Incomplete: no call.", "a", "b", "The answer."])
    graph = compiled(model, name="ladder")
    edited = {"one_call_prompt": EDITED, "synthesize_prompt": EDITED.replace("parrot", "crow")}
    ended = run("invoke", graph, "Hello", context=edited)
    assert ended["status"] == "answered"
    first, *_, last = (str(request.messages[0].text) for request in model.requests)
    assert first.startswith("You are a parrot of Globex.")
    assert last.startswith("You are a crow of Globex.")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["react_transcript", "react_todo_notes", "react_compaction"])
def test_an_edited_react_prompt_is_cut_at_its_question_like_the_seeds(
    name: str, mode: Mode
) -> None:
    model = ScriptedModel(replies=["Final Answer: yes"])
    graph = compiled(model, [Log().tool("look_up")], name=name)
    run(mode, graph, "Well?", context={"react_prompt": REACT})
    (request,) = model.requests
    system, *_, asked = request.messages
    assert str(system.text).splitlines()[:2] == ["Say it all.", "- look_up[text]: Do look_up."]
    assert "Q: Well?" in str(asked.text)


def test_the_summarizer_is_told_what_was_edited_for_it() -> None:
    action = "Thought: on\nAction: look_up[{}]"
    script = [action.format(n) for n in range(4)]
    model = ScriptedModel(replies=[*script, "A summary.", "Final Answer: done"])
    tools = [Log().tool("look_up", lambda _: "word " * 300)]
    graph = compiled(model, tools, name="react_compaction")
    edited = {
        "summarizer_prompt": "Sum up.",
        "progress_prompt": "{{question}}|{{progress}}|{{transcript}}",
        "react_prompt": REACT,
    }
    small = {"context_window": 1800, "kept_turns": 1}
    run("invoke", graph, "Well?", context={**edited, **small})
    (asked,) = [r for r in model.requests if str(r.messages[0].text) == "Sum up."]
    assert str(asked.messages[1].text).startswith("Well?|(nothing yet)|")


def test_no_checkpoint_holds_the_text_of_a_prompt(tmp_path: Path) -> None:
    db = tmp_path / "memory.sqlite"
    model = ScriptedModel(replies=["One.", "Two."])
    with open_graph("tools_in_context", db=db, model=model) as graph:
        for context in (None, {"system_prompt": EDITED}):
            config: Any = {"configurable": {"thread_id": "t"}}
            graph.invoke({"messages": [("user", "Hello")]}, config, context=context)
    with closing(sqlite3.connect(db)) as saved:
        rows = [*saved.execute("SELECT * FROM checkpoints"), *saved.execute("SELECT * FROM writes")]
    stored = b"".join(part if isinstance(part, bytes) else b"" for row in rows for part in row)
    assert b"Hello" in stored
    assert b"parrot" not in stored
    assert b"support assistant" not in stored


def test_a_prompt_is_set_on_the_command_line_and_a_wrong_one_is_one_line(home: Path) -> None:
    script = home / "script.json"
    script.write_text(json.dumps(["Fine."]), encoding="utf-8")
    asked = ("ask", "Hello", "--model", f"scripted:{script}", "--db", str(home / "m.sqlite"))
    wrong = rungs(*asked, "--set", "system_prompt={{company}} {{name}}")
    assert wrong.code == 2
    assert "--set system_prompt: unknown placeholder {{name}}" in wrong.err
    assert wrong.err.count("\n") == 1
    assert rungs(*asked, "--set", f"system_prompt={EDITED}").code == 0


def test_a_prompts_file_that_is_wrong_is_one_line_of_the_command_line(
    home: Path, edit: Any
) -> None:
    edit("system_prompt_with_tools", "{{nothing}}")
    said = rungs("ask", "Hello", "--db", str(home / "m.sqlite"))
    assert said.code != 0
    assert "prompts/system_prompt_with_tools.md: unknown placeholder" in said.err
    assert said.err.count("\n") == 1
