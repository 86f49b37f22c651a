"""Postgres in the place of the memory file: what holds of the one holds of the other."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from graphs import open_graph
from graphs.database_url import VARIABLE, DatabaseError
from graphs.errors import UsageError
from graphs.ledger import UNKNOWN, namespace_of
from graphs.memory import open_memory, server_checkpointer, server_store
from graphs.models import ScriptedModel
from graphs.threads import list_threads
from tests.cli import ROOT, home, rungs, scripted
from tests.postgres import PASSWORD, new_database, postgres, programs
from tests.support import MODES, Mode, results, run
from tools import contract
from tools.notes import read_notes

__all__ = ["home"]

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(
        programs() is None and not os.environ.get("RUNGS_CLUSTER"),
        reason="Postgres is not installed: apt-get install postgresql",
    ),
]

SAME = (
    "test_approvals.py",
    "test_cases_checkpoints.py",
    "test_cases_users.py",
    "test_limits_hit.py",
    "test_notes.py",
    "test_rollback.py",
    "test_search_log.py",
    "test_thread_graph.py",
)
"""Files whose every test is asked of Postgres too, but for those that look into a file."""

OF_FILES = "the_same_rows or the_file_is_private or a_file_of_an_earlier_version"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as url:
        open_memory(new_database(url, "ready")).close()
        yield url


@pytest.fixture
def database(server: str, request: pytest.FixtureRequest) -> str:
    """Return the URL of a database of the test's own, set up already."""
    return new_database(server, f"t{abs(hash(request.node.name))}", template="ready")


def sql(url: str, *statements: str) -> list[Any]:
    """Do statements, and return what the last one found."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            done = connection.execute(statement.encode())
        return done.fetchall() if done.description else []


def script(code: str, **environment: str) -> "subprocess.Popen[str]":
    """Start Python code in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_what_is_asked_of_memory_files_is_asked_of_postgres(server: str) -> None:
    asked = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "tests.on_postgres"),
            *("-p", "no:cacheprovider", "-k", f"not ({OF_FILES})"),
            *(f"tests/{name}" for name in SAME),
        ],
        cwd=ROOT,
        env={**os.environ, "RUNGS_TEST_SERVER": new_database(server, "same")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked.stdout[-5000:] + asked.stderr
    assert " passed" in asked.stdout


def test_what_keeps_a_database_from_serving_is_told_in_a_line(server: str, home: Path) -> None:
    sql(
        f"{server}/ready",
        "CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII'",
        "CREATE ROLE guest LOGIN PASSWORD 'guest'",
    )
    sql(new_database(server, "theirs"), "CREATE TABLE store (id int, name text)")
    sql(new_database(server, "newer", template="ready"), "INSERT INTO rungs_layout VALUES (99)")
    new_database(server, "empty")
    wrong = server.replace(PASSWORD.replace(" ", "%20"), "wrong-guess")
    guest = f"postgresql://guest:guest@{server.rpartition('@')[2]}"
    for url, said in {
        f"{wrong}/ready": "the server refuses this user or password: check the URL",
        f"{server}/none": "there is no such database: createdb none",
        f"{server}/ascii": "create it with the encoding UTF8",
        f"{server}/theirs": "has another application's table store: name another database",
        f"{server}/newer": "was written by a newer version of rungs",
        f"{guest}/empty": "this user may not create tables here",
    }.items():
        told = rungs("ask", "What is 1+1?", "--db", url)
        assert told.code == 2
        assert said in told.error
        assert told.error.startswith("rungs: postgresql://")
        assert PASSWORD not in told.error
        assert "wrong-guess" not in told.error
    assert sql(f"{server}/empty", "SELECT 1 FROM pg_tables WHERE schemaname = 'public'") == []


ENTER = """
import sys
from graphs.memory import open_memory
sys.stdin.readline()
with open_memory() as memory:
    for number in range(50):
        if memory.store.put_if_absent({namespace!r}, str(number), {{"ended": False}}):
            print(number)
"""


def test_a_new_database_may_be_opened_by_several_processes_and_each_call_is_entered_by_one(
    server: str,
) -> None:
    url = new_database(server, "fresh")
    code = ENTER.format(namespace=namespace_of("t"))
    processes = [script(code, **{VARIABLE: url}) for _ in range(4)]
    said = Counter[str]()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        out, err = process.communicate()
        assert process.returncode == 0, err
        said.update(out.split())
    assert said == Counter(map(str, range(50)))


TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'"

HOLD = """
import sys
from graphs.memory import open_memory
with open_memory() as memory, memory.alone_in("t"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_thread_is_held_against_other_processes_and_free_once_its_holder_was_killed(
    database: str,
) -> None:
    holder = script(HOLD, **{VARIABLE: database})
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with open_graph("one_call", db=database, model=ScriptedModel(replies=["Yes."])) as graph:
        with pytest.raises(UsageError, match="thread t is in use by another run"):
            run("invoke", graph, "?")
        with pytest.raises(UsageError, match="thread t is in use by another run"):
            run("ainvoke", graph, "?")
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
        assert run("invoke", graph, "?")["answer"] == "Yes."


async def test_a_task_cancelled_while_it_asks_for_a_thread_leaves_it_free(database: str) -> None:
    with open_memory(database) as memory, open_memory(database) as other:
        for _ in range(10):
            asking = asyncio.ensure_future(memory.atake("t"))
            await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await other.atake("t")
            other.let_go("t")


def test_connections_that_the_server_ended_are_made_anew_and_threads_stay_held(
    database: str,
) -> None:
    everybody = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with open_memory(database) as memory:
        memory.store.put(("a",), "k", {"n": 1})
        with memory.alone_in("held"):
            sql(database, everybody)
            with memory.alone_in("another"):
                pass
            with (
                open_memory(database) as other,
                pytest.raises(UsageError, match="in use"),
                other.alone_in("held"),
            ):
                pass
        sql(database, everybody)
        found = memory.store.get(("a",), "k")
        assert found is not None
        assert found.value == {"n": 1}


@pytest.mark.parametrize("mode", MODES)
def test_a_database_that_is_lost_ends_a_run_in_a_line_and_the_thread_goes_on_once_it_is_back(
    mode: Mode, server: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphs.memory.postgres.connections.POOL_SECONDS", 0.5)
    name = database.rpartition("/")[2]
    effects: list[str] = []

    def act() -> str:
        """Do something, and lose the database."""
        effects.append("done")
        sql(
            f"{server}/ready",
            f"ALTER DATABASE {name} ALLOW_CONNECTIONS false",
            TERMINATE.format(name),
        )
        return "did it"

    call = {"id": "c1", "name": "act", "args": {}}
    tools = [contract(act, requires_confirmation=False)]
    model = ScriptedModel(replies=[{"tool_calls": [call]}])
    with (
        open_graph("tool_calling", db=database, model=model, tools=tools) as graph,
        pytest.raises(ConnectionError, match=f"/{name}: the database does not answer any more"),
    ):
        run(mode, graph, "?")
    sql(f"{server}/ready", f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    model = ScriptedModel(replies=["Look whether it happened."])
    with open_graph("tool_calling", db=database, model=model, tools=tools) as graph:
        assert run(mode, graph, None)["answer"] == "Look whether it happened."
    assert UNKNOWN in results(model.requests[0].messages)[0].text
    assert effects == ["done"]


DRIVE = """
from pathlib import Path
import tests.on_postgres
from tests.crash_driver import main
main(Path({folder!r}), {kills}, 7)
"""


def test_killed_again_and_again_no_effect_happens_twice_and_every_thread_ends(
    server: str, tmp_path: Path
) -> None:
    code = DRIVE.format(folder=str(tmp_path), kills=15)
    driver = script(code, RUNGS_TEST_SERVER=new_database(server, "killed"))
    out, err = driver.communicate()
    assert driver.returncode == 0, err
    assert '"killed": 15' in out
    effects = (tmp_path / "effects").read_text().split("\n")[:-1]
    assert len(effects) == len(set(effects))


def test_commands_take_the_database_from_the_environment_for_all_they_keep(
    database: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"export {VARIABLE}=" in (ROOT / "README.md").read_text(encoding="utf-8")
    monkeypatch.setenv(VARIABLE, database)
    tools = home / "tools.toml"
    tools.write_text('[state_changing.save_note]\nuse = "tools.notes:save_note"\n')
    call = {"id": "c1", "name": "save_note", "args": {"text": "Prefers e-mail."}}
    model = scripted(home, [{"tool_calls": [call]}, "Noted, by e-mail then."])
    asked = rungs("ask", "Note it", *("--user", "ann", "--thread", "t"), "--model", model,
                  "--tools", str(tools))  # fmt: skip
    assert asked.code == 4
    assert "resume t --user ann --approve" in asked.out
    assert "--db" not in asked.out
    go_on = [sys.executable, "-m", "graphs.cli", "resume", "t", "--user", "ann", "--approve"]
    answered = subprocess.run(go_on, cwd=ROOT, capture_output=True, text=True, check=False)
    assert answered.returncode == 0, answered.stderr
    assert "by e-mail then" in answered.stdout
    assert "Prefers e-mail." in rungs("notes", "list", "--user", "ann").out
    assert "answered" in rungs("threads", "--user", "ann").out
    assert "save_note" in rungs("audit", "t", "--user", "ann").out
    assert "belongs to another user" in rungs("audit", "t", "--user", "bob").error
    told = asked.out + asked.err + answered.stdout + answered.stderr
    assert "s3cret" not in told
    assert not list(home.glob("*.sqlite*"))


@pytest.mark.parametrize("mode", MODES)
def test_secrets_of_a_config_of_arguments_and_of_an_answer_are_nowhere_in_the_database(
    mode: Mode, database: str, home: Path
) -> None:
    """Case CKP-13; the call runs with its real arguments where it is resumed."""
    secret = "sk-live-1234567890abcdefghij"
    seen: list[str] = []

    def deploy(key: str) -> str:
        """Deploy with a key."""
        seen.append(key)
        return f"deployed with {key}"

    call = {"id": "c1", "name": "deploy", "args": {"key": secret}}
    config = {"configurable": {"api_key": secret}, "metadata": {"token": secret}}
    asked: Any = {"messages": [("user", "Deploy it")]}
    answered: Any = Command(resume={"decisions": [{"type": "approve"}]})
    for given in (asked, answered):
        model = ScriptedModel(replies=[{"tool_calls": [call]} if given is asked else "Done."])
        with open_graph(
            "tool_calling", db=database, model=model, tools=[contract(deploy)]
        ) as graph:
            run(mode, graph, given, config=config)
    assert seen == [secret]
    where = programs()
    assert where is not None
    kept = subprocess.run(
        [str(where / "pg_dump"), "--data-only", "--inserts", database],
        env={**os.environ, "PGOPTIONS": "-c bytea_output=escape"},
        capture_output=True,
        check=True,
    ).stdout
    assert b"deploy" in kept
    assert secret.encode() not in kept
    assert secret.encode().hex().encode() not in kept


def test_zero_bytes_in_what_a_person_asks_do_not_end_a_run(database: str) -> None:
    with open_graph("one_call", db=database, model=ScriptedModel(replies=["Yes."])) as graph:
        assert run("invoke", graph, "is \0 a byte?")["answer"] == "Yes."
        assert list_threads(graph.memory)[0].question == "is \0 a byte?"


def test_a_copied_thread_goes_its_own_way_and_a_deleted_one_leaves_no_rows(database: str) -> None:
    model = ScriptedModel(replies=["One.", "Two."])
    with open_graph("one_call", db=database, model=model) as graph:
        run("invoke", graph, "?", thread="a")
        graph.memory.saver.copy_thread("a", "b")
        assert run("invoke", graph, "And?", thread="b")["answer"] == "Two."
        copied = graph.get_state({"configurable": {"thread_id": "b"}}).values["messages"]
        assert [message.text for message in copied] == ["?", "One.", "And?", "Two."]
        assert len(graph.get_state({"configurable": {"thread_id": "a"}}).values["messages"]) == 2
        for thread in "ab":
            graph.memory.saver.delete_thread(thread)
    # The prompts that replies were given are kept once for all threads.
    stored = "store WHERE prefix <> 'prompts'"
    for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes", stored):
        assert sql(database, f"SELECT count(*) FROM {table}") == [(0,)]  # noqa: S608


async def test_langgraphs_server_is_lent_the_database(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, database)
    async with server_checkpointer() as saver, server_store() as store:
        await store.aput(("a",), "k", {"n": 1})
        assert await saver.aget_tuple({"configurable": {"thread_id": "t"}}) is None
    with open_memory(database) as memory:
        found = memory.store.get(("a",), "k")
        assert found is not None
        assert read_notes(memory.store, "ann") == []


def test_cached_results_expire_and_are_cleared(database: str) -> None:
    with open_memory(database) as memory:
        kept, gone = (("a", "b"), "k\0"), (("a",), "k")
        memory.cache.set({kept: ({"n": [1]}, None), gone: (2, -1)})
        assert memory.cache.get([kept, gone]) == {kept: {"n": [1]}}
        memory.cache.clear([("other",)])
        assert memory.cache.get([kept]) == {kept: {"n": [1]}}
        memory.cache.clear([("a", "b")])
        assert memory.cache.get([kept]) == {}


def test_a_memory_that_failed_to_open_holds_no_connection(server: str) -> None:
    url = new_database(server, "foreign")
    sql(url, "CREATE TABLE checkpoints (id int)")
    for _ in range(3):
        with pytest.raises(DatabaseError):
            open_memory(url)
    busy = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'foreign'"
    assert sql(f"{server}/ready", busy) == [(0,)]
