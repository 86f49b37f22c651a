"""Two instances on one database: one is killed in the middle, and the other goes on."""

import asyncio
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from langgraph_sdk import get_sync_client

from graphs import GRAPHS, open_graph
from graphs.ledger import UNKNOWN
from graphs.memory import open_memory
from graphs.models import ScriptedModel
from tests.cli import ROOT, scripted
from tests.instances import AEGRA, Instance, instance, redis
from tests.postgres import new_database, postgres, programs
from tests.support import result_for, results, run

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(
        not AEGRA or (programs() is None and not os.environ.get("RUNGS_CLUSTER")),
        reason="needs Python 3.12, Postgres and Redis: make test-cluster",
    ),
]

GRAPH = "tool_calling"
TOOLS = """
[read_only.calculator]
use = "tools.calculator:calculator"

[read_only.look]
use = "tests.gated:look"

[state_changing.act]
use = "tests.gated:act"
requires_confirmation = false

[state_changing.act_slowly]
use = "tests.gated:act_slowly"
requires_confirmation = false

[state_changing.pay]
use = "tests.gated:act"
requires_confirmation = true
"""
NO_ANSWER = {"resume": "perhaps"}
YES = {"resume": {"decisions": [{"type": "approve"}]}}


def calls(*made: tuple[str, str]) -> list[Any]:
    """Return replies that make calls one after another, and an answer."""
    each = [
        {"tool_calls": [{"id": f"c{number}", "name": name, "args": {"label": label}}]}
        for number, (name, label) in enumerate(made)
    ]
    return [*each, f"All {len(made)} are done."]


SCRIPTS = {
    "steps": calls(("act", "s0"), ("act", "s1"), ("look", "s2"), ("act", "s3"), ("act", "s4")),
    "effect": calls(("act", "e0"), ("act_slowly", "e1"), ("act", "e2")),
    "asked": calls(("act", "a0"), ("pay", "a1"), ("act", "a2")),
    "asked again": calls(("act", "b0"), ("pay", "b1"), ("act", "b2")),
}


@dataclass
class Story:
    """What happened: two instances, four threads, one kill.

    Attributes:
        folder: Where tools write down what they did.
        database: The database of both instances.
        threads: Ids of the threads by what they are for.
        models: Their models by the same names.
        first: Id of the process that was killed.
        second: Id of the one that was left.
        url: Its address.
        client: Asks it.
        states: How the threads stand in the end.
        nonsense: What came of an answer that decided nothing.
    """

    folder: Path
    database: str
    threads: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    first: int = 0
    second: int = 0
    url: str = ""
    client: Any = None
    states: dict[str, Any] = field(default_factory=dict)
    nonsense: Any = None

    def done(self) -> list[tuple[str, int]]:
        """Return what tools did, and which process did it, in order."""
        file = self.folder / "done"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [(what, int(pid)) for what, _, pid in (line.rpartition(" ") for line in lines)]

    def wait_for(self, *wanted: str) -> None:
        """Wait until tools did something."""
        end = time.monotonic() + 60
        while not set(wanted) <= {what for what, _ in self.done()}:
            assert time.monotonic() < end, self.done()
            time.sleep(0.05)

    def begin(self, client: Any, name: str) -> None:
        """Begin a thread's run, and don't wait for it."""
        self.threads[name] = client.threads.create()["thread_id"]
        self.go_on(client, name, input={"messages": [{"role": "user", "content": "Do it"}]})

    def go_on(self, client: Any, name: str, **given: Any) -> None:
        """Begin another run in a thread."""
        context = {"model": self.models[name], "tool_timeout": 120}
        client.runs.create(self.threads[name], GRAPH, context=context, **given)

    def wait_until(self, client: Any, name: str, status: str) -> None:
        """Wait until a thread stands so."""
        end = time.monotonic() + 90
        while (stands := client.threads.get(self.threads[name])["status"]) != status:
            assert time.monotonic() < end, (name, stands, self.done())
            time.sleep(0.1)


def as_another_user(server: str, database: str) -> str:
    """Return a database's URL for a user whose password needs quoting in one."""
    import psycopg

    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute("CREATE ROLE served LOGIN SUPERUSER PASSWORD 'p@ss/w:rd?&%+'")
    return f"postgresql://served:{quote('p@ss/w:rd?&%+', safe='')}@{database.rpartition('@')[2]}"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "tools.toml").write_text(TOOLS, encoding="utf-8")
    (folder / "scripts").mkdir()
    environment = {
        "RUNGS_TOOLS": str(folder / "tools.toml"),
        "RUNGS_TEST_FOLDER": str(folder),
        "RUNGS_SHOP": str(folder / "shop.sqlite"),
    }
    with postgres() as server, redis(folder) as redis_url:
        told = Story(folder, new_database(server, "cluster"))
        served = as_another_user(server, told.database)
        told.models = {name: scripted(folder / "scripts", s) for name, s in SCRIPTS.items()}
        common = (folder, served, redis_url, environment)
        with instance("first", *common) as first:
            first.wait_until_ready()
            with get_sync_client(url=first.url) as client:
                for name in SCRIPTS:
                    told.begin(client, name)
                told.wait_for("look:s2", "act:e1")
                for name in ("asked", "asked again"):
                    told.wait_until(client, name, "interrupted")
            with instance("second", *common) as second:
                second.wait_until_ready()
                told.first, told.second = first.process.pid, second.process.pid
                told.url = second.url
                with get_sync_client(url=second.url) as told.client:
                    finish(told, first)
                    yield told


def finish(told: Story, first: Instance) -> None:
    """Answer on the other instance, kill the first one, and see all threads to their end."""
    client = told.client
    told.nonsense = client.runs.wait(
        told.threads["asked"], GRAPH, command=NO_ANSWER, context={"model": told.models["asked"]}
    )
    assert client.threads.get(told.threads["asked"])["status"] == "interrupted"
    told.go_on(client, "asked", command=YES)
    told.wait_until(client, "asked", "idle")
    first.kill()
    (told.folder / "gate").touch()
    told.go_on(client, "asked again", command=YES)
    for name, thread in told.threads.items():
        told.wait_until(client, name, "idle")
        told.states[name] = client.threads.get_state(thread)


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_run_ends_in_the_answer_it_would_have_had(story: Story, name: str) -> None:
    values = story.states[name]["values"]
    assert values["status"] == "answered"
    assert values["answer"] == SCRIPTS[name][-1]
    kinds = Counter(message["type"] for message in values["messages"])
    assert kinds == {"human": 1, "ai": len(SCRIPTS[name]), "tool": len(SCRIPTS[name]) - 1}


def test_no_effect_is_repeated_and_none_is_lost(story: Story) -> None:
    acts = Counter(what for what, _ in story.done() if what.startswith("act:"))
    made = [call["args"]["label"] for s in SCRIPTS.values() for r in s[:-1] for call in
            r["tool_calls"] if call["name"] != "look"]  # fmt: skip
    assert acts == Counter(f"act:{label}" for label in made)


def test_what_the_killed_instance_finished_is_not_done_again_and_the_rest_is(story: Story) -> None:
    assert [step for step in story.done() if ":s" in step[0]] == [
        ("act:s0", story.first),
        ("act:s1", story.first),
        ("look:s2", story.first),
        ("look:s2", story.second),
        ("looked:s2", story.second),
        ("act:s3", story.second),
        ("act:s4", story.second),
    ]


def test_no_step_is_repeated(story: Story) -> None:
    states = story.client.threads.get_history(story.threads["steps"], limit=100)
    steps = [state["metadata"]["step"] for state in states]
    assert steps == list(range(steps[0], steps[-1] - 1, -1))
    assert len(states) > len(SCRIPTS["steps"])


def test_an_effect_that_was_cut_short_is_not_done_again_and_its_result_says_so(
    story: Story,
) -> None:
    with open_graph(GRAPH, db=story.database, model=ScriptedModel(replies=[])) as graph:
        config: Any = {"configurable": {"thread_id": story.threads["effect"]}}
        messages = graph.get_state(config).values["messages"]
    assert UNKNOWN in result_for(messages, "c1").text
    assert [message.status for message in results(messages)] == ["success", "error", "success"]


def test_an_answer_that_decides_nothing_leaves_the_pause_open_and_says_why(story: Story) -> None:
    (pause,) = story.nonsense["__interrupt__"]
    assert pause["value"]["problem"]
    assert pause["value"]["action_requests"][0]["name"] == "pay"


def test_a_python_caller_goes_on_with_a_server_s_thread(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNGS_DATABASE_URL", story.database)
    with open_graph(GRAPH, model=ScriptedModel(replies=["Yes, all of it."])) as graph:
        output = run("invoke", graph, "Is it done?", thread=story.threads["steps"])
    assert output["answer"] == "Yes, all of it."
    seen = story.client.threads.get_state(story.threads["steps"])["values"]
    assert seen["answer"] == "Yes, all of it."


def test_both_serve_every_graph_with_its_settings(story: Story) -> None:
    served = {each["graph_id"]: each for each in story.client.assistants.search(limit=100)}
    assert set(served) == set(GRAPHS)
    for name, assistant in served.items():
        schemas = story.client.assistants.get_schemas(assistant["assistant_id"])
        assert "tool_timeout" in json.dumps(schemas["context_schema"]), name
        assert assistant["description"] == GRAPHS[name].DESCRIPTION


def test_the_example_of_the_page_runs(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert "http://127.0.0.1:2026" in code
    code = code.replace("http://127.0.0.1:2026", story.url)
    exec(compile(code, "deploy/README.md", "exec"), {})  # noqa: S102 - it is ours
    assert "232" in capsys.readouterr().out


def test_two_servers_that_enter_a_call_at_once_let_one_run_it(story: Story) -> None:
    """LangGraph's own store has no such step; the ledger takes its table's."""
    from langgraph.store.postgres.aio import AsyncPostgresStore
    from psycopg_pool import AsyncConnectionPool

    from graphs.claims import claims_of

    async def enter() -> list[bool]:
        kwargs = {"autocommit": True}
        pool: Any = AsyncConnectionPool(story.database, kwargs=kwargs, open=False)
        async with pool:
            claims = [claims_of(AsyncPostgresStore(conn=pool)) for _ in range(8)]
            asked = [c.aput_if_absent(("ledger", "x"), "k", {"ended": False}) for c in claims if c]
            return await asyncio.gather(*asked)

    assert sorted(asyncio.run(enter())) == [False] * 7 + [True]
    with open_memory(story.database) as memory:
        found = memory.store.get(("ledger", "x"), "k")
        assert found is not None
