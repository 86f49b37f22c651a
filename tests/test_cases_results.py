"""What a tool returns, late, large, strange or secret, and what of it the model sees."""

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from graphs.jobs import Job
from graphs.models import ScriptedModel
from graphs.running import run_all
from tests.support import MODES, Mode, compiled, result_for, results, run
from tools import contract, load_tools

pytestmark = pytest.mark.parametrize("mode", MODES)


def calls(name: str, *arguments: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"tool_calls": [{"id": f"c{n}", "name": name, "args": given}]}
        for n, given in enumerate(arguments)
    ]


def returning(value: Any) -> Any:
    def fetch() -> Any:
        """Fetch it."""
        return value

    return fetch


def fetch_ssn() -> str:
    """Fetch a number."""
    return "ssn 078-05-1120"


def shown(mode: Mode, value: Any, **context: Any) -> Any:
    """Return the result message that the model is sent for a tool that returns this value."""
    model = ScriptedModel(replies=[*calls("fetch", {}), "ok"])
    output = run(mode, compiled(model, [returning(value)]), "?", context=context)
    assert output["answer"] == "ok"
    return result_for(model.requests[1].messages, "c0")


def test_a_sync_tool_out_of_time_may_still_finish_and_its_late_result_reaches_nobody(
    mode: Mode,
) -> None:
    """Case RES-01."""
    release, finished = threading.Event(), threading.Event()
    log: list[str] = []

    def slow() -> str:
        """Do something slowly."""
        release.wait(10)
        log.append("effect")
        finished.set()
        return "late"

    model = ScriptedModel(replies=[*calls("slow", {}), "It may have happened."])
    started = time.monotonic()
    output = run(mode, compiled(model, [slow]), "?", context={"tool_timeout": 0.1})
    assert time.monotonic() - started < 8, "nobody waits for the late tool"
    answer = result_for(output["messages"], "c0")
    assert answer.status == "error"
    assert "outcome is unknown" in answer.text
    release.set()
    assert finished.wait(10)
    assert log == ["effect"]
    assert "late" not in str(output["messages"])


def test_a_late_result_replaces_nothing_in_a_later_round(mode: Mode) -> None:
    """Case RES-03."""
    release = threading.Event()
    executions: list[int] = []

    def slow(q: str) -> str:
        """Ask slowly."""
        executions.append(1)
        if len(executions) == 1:
            release.wait(10)
            return "old"
        release.set()
        return "new"

    tool = contract(slow, effect="read_only", cache_seconds=60)
    model = ScriptedModel(
        replies=[
            *calls("slow", {"q": "x"}, {"q": "x"}),
            "new it is",
            *calls("slow", {"q": "x"}),
            "still new",
        ]
    )
    store = InMemoryStore()
    graph = compiled(model, [tool], store=store)
    output = run(mode, graph, "?", context={"tool_timeout": 0.2})
    time.sleep(0.05)
    assert [r.text for r in results(output["messages"])][1] == "new"
    again = run(mode, graph, "again")
    assert [r.text for r in results(again["messages"])] == ["new"]
    assert len(executions) == 2


def test_a_result_of_over_a_megabyte_is_cut_in_the_middle_with_its_true_size(mode: Mode) -> None:
    """Case RES-05."""
    message = shown(mode, "first\n" + "row\n" * 400_000 + "last", tool_result_limit=4000)
    assert len(message.text) <= 4000
    assert message.text.startswith("first")
    assert message.text.endswith("last")
    assert "1,600,010" in message.text


def test_an_error_result_is_limited_too(mode: Mode) -> None:
    """Case RES-05."""

    def fetch() -> str:
        """Fetch it."""
        raise RuntimeError("x" * 100_000)

    model = ScriptedModel(replies=[*calls("fetch", {}), "ok"])
    output = run(mode, compiled(model, [fetch]), "?", context={"tool_result_limit": 200})
    assert len(result_for(output["messages"], "c0").text) <= 200


@pytest.mark.parametrize("size", [1000, 1001, 1002])
def test_a_cut_never_breaks_a_character(mode: Mode, size: int) -> None:
    """Case RES-07."""
    message = shown(mode, "日本🙂" * 2000, tool_result_limit=size)
    message.text.encode("utf-8")
    assert len(message.text) <= size
    assert "\ufffd" not in message.text


def test_bytes_are_told_and_not_shown(mode: Mode) -> None:
    """Case RES-09."""
    text = shown(mode, b"\x89PNG\r\n\x1a\n" + b"\0" * 49_992).text
    assert "50,000 bytes" in text
    assert "\\x89" not in text


def test_nan_and_infinity_become_strict_json(mode: Mode) -> None:
    """Case RES-11."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    text = shown(mode, {"mean": float("nan"), "max": float("inf")}).text
    assert json.loads(text, parse_constant=refuse) == {"mean": "NaN", "max": "Infinity"}


def test_an_exception_is_told_in_one_line_without_secret_path_or_traceback(mode: Mode) -> None:
    """Case RES-13."""

    def fetch() -> str:
        """Fetch it."""
        raise RuntimeError("401 for https://x.example/?key=sk-live-9 at /srv/app/a.py")

    model = ScriptedModel(replies=[*calls("fetch", {}), "ok"])
    output = run(mode, compiled(model, [fetch]), "?")
    text = result_for(output["messages"], "c0").text
    assert "401" in text
    assert "sk-live-9" not in str(output["messages"])
    assert "/srv/app" not in text
    assert "\n" not in text
    assert "Traceback" not in text


def test_an_error_is_never_served_from_the_cache(mode: Mode) -> None:
    """Case RES-15."""
    executions: list[int] = []

    def fetch(q: int) -> str:
        """Fetch it."""
        executions.append(q)
        if len(executions) == 1:
            raise RuntimeError("503")
        return "fine"

    tool = contract(fetch, effect="read_only", cache_seconds=60)
    replies = [*calls("fetch", {"q": 1}, {"q": 1}, {"q": 1}), "ok"]
    graph = compiled(ScriptedModel(replies=replies), [tool], store=InMemoryStore())
    output = run(mode, graph, "?")
    answers = results(output["messages"])
    assert [r.status for r in answers] == ["error", "success", "success"]
    assert len(executions) == 2, "the third call is served from the cache"
    assert answers[2].tool_call_id == "c2"
    assert answers[2].additional_kwargs["cached"] is True


def test_a_tool_with_effects_is_never_cached_and_empties_what_was_read_before_it(
    mode: Mode,
) -> None:
    """Case RES-17: results that were kept are dropped when the same user's call changes state."""
    cart: list[str] = []

    def add_item(item: str) -> str:
        """Add an item."""
        cart.append(item)
        return f"{len(cart)} items"

    def get_cart() -> str:
        """Read the cart."""
        return ",".join(cart) or "empty"

    tools = [
        contract(add_item, requires_confirmation=False),
        contract(get_cart, effect="read_only", cache_seconds=60),
    ]
    names = ["get_cart", "add_item", "add_item", "get_cart"]
    replies = [
        {
            "tool_calls": [
                {"id": f"c{n}", "name": name, "args": {"item": "tea"} if "add" in name else {}}
            ]
        }
        for n, name in enumerate(names)
    ]
    graph = compiled(ScriptedModel(replies=[*replies, "ok"]), tools, store=InMemoryStore())
    output = run(mode, graph, "?")
    assert [r.text for r in results(output["messages"])] == [
        "empty",
        "1 items",
        "2 items",
        "tea,tea",
    ]


def test_a_cached_result_does_not_outlive_a_changed_tool(mode: Mode) -> None:
    """Case RES-19."""
    store = InMemoryStore()

    def first(item: str) -> str:
        """Tell the price."""
        return "v1"

    def second(item: str) -> str:
        """Tell the price, taxes included."""
        return "v2"

    told = []
    for body in (first, first, second):
        body.__name__ = "price"
        tool = contract(body, name="price", effect="read_only", cache_seconds=60)
        graph = compiled(
            ScriptedModel(replies=[*calls("price", {"item": "tea"}), "ok"]), [tool], store=store
        )
        told += results(run(mode, graph, "?")["messages"])
    assert [r.text for r in told] == ["v1", "v1", "v2"]
    assert told[1].additional_kwargs.get("cached") is True


def test_one_users_cached_result_is_not_served_to_another(mode: Mode) -> None:
    executions: list[int] = []

    def fetch() -> str:
        """Fetch it."""
        executions.append(1)
        return str(len(executions))

    tool = contract(fetch, effect="read_only", cache_seconds=60)
    store = InMemoryStore()
    for user in ("ann", "bob", None):
        graph = compiled(ScriptedModel(replies=[*calls("fetch", {}), "ok"]), [tool], store=store)
        run(mode, graph, "?", context={"user_id": user})
    assert len(executions) == 3


@pytest.mark.parametrize(
    ("question", "context"),
    [
        ("Where is O-2001?", {}),
        ("Where is O-2001?", {"user_email": "eve@evil.example"}),
        ("I am eve@evil.example, where is O-2001?", {}),
    ],
)
def test_a_cached_result_shows_nobody_an_address_that_only_another_may_see(
    mode: Mode, question: str, context: dict[str, Any]
) -> None:
    tool = contract(
        returning("O-2001: ann@globex.example"), name="find", effect="read_only", cache_seconds=60
    )
    store, told = InMemoryStore(), []
    for asked, given in (
        ("I am ann@globex.example, where is O-2001?", {}),
        (question, context),
        ("Where is O-2001?", {"user_email": "Ann@globex.example"}),
    ):
        model = ScriptedModel(replies=[*calls("find", {}), "ok"])
        run(mode, compiled(model, [tool], store=store), asked, context=given)
        told.append(result_for(model.requests[1].messages, "c0"))
    assert [r.text for r in told] == [
        "O-2001: ann@globex.example",
        "O-2001: [redacted]",
        "O-2001: ann@globex.example",
    ]
    assert told[1].additional_kwargs["redacted"] == {"email": 1}
    assert told[2].additional_kwargs["cached"] is True


def test_addresses_of_one_user_id_are_told_apart_in_the_cache(mode: Mode) -> None:
    """A desk's id is shared; whose address it may show is not."""
    tool = contract(
        returning("of ann@globex.example"), name="find", effect="read_only", cache_seconds=60
    )
    store, told = InMemoryStore(), []
    for person in ("ann", "bob", "ann"):
        model = ScriptedModel(replies=[*calls("find", {}), "ok"])
        context = {"user_id": "desk", "user_email": f"{person}@globex.example"}
        run(mode, compiled(model, [tool], store=store), "?", context=context)
        told.append(result_for(model.requests[1].messages, "c0").text)
    assert told == ["of ann@globex.example", "of [redacted]", "of ann@globex.example"]


def test_a_cached_result_goes_by_the_redaction_rules_of_the_run_that_it_is_shown_in(
    mode: Mode, tmp_path: Path
) -> None:
    file = tmp_path / "tools.toml"
    head = '[read_only.fetch_ssn]\nuse = "tests.test_cases_results:fetch_ssn"\ncache_seconds = 60\n'
    store, told = InMemoryStore(), []
    for rules in ("", "[redaction.patterns]\nssn = '\\b\\d{3}-\\d{2}-\\d{4}\\b'\n"):
        file.write_text(head + rules)
        model = ScriptedModel(replies=[*calls("fetch_ssn", {}), "ok"])
        run(mode, compiled(model, load_tools(file), store=store), "?")
        told.append(result_for(model.requests[1].messages, "c0"))
    assert [r.text for r in told] == ["ssn 078-05-1120", "ssn [redacted]"]
    assert told[1].additional_kwargs["cached"] is True
    assert told[1].additional_kwargs["redacted"] == {"ssn": 1}


def test_calls_of_one_reply_run_at_the_same_time(mode: Mode) -> None:
    meeting = threading.Barrier(3, timeout=10)

    def meet(n: int) -> int:
        """Wait for the others."""
        meeting.wait()
        return n

    made = [{"id": f"c{n}", "name": "meet", "args": {"n": n}} for n in range(3)]
    output = run(mode, compiled(ScriptedModel(replies=[{"tool_calls": made}, "ok"]), [meet]), "?")
    assert [r.text for r in results(output["messages"])] == ["0", "1", "2"]


def test_an_async_tool_serves_sync_and_async_callers_alike(mode: Mode) -> None:
    import asyncio

    async def fetch() -> str:
        """Fetch it."""
        await asyncio.sleep(0)
        return "fetched"

    model = ScriptedModel(replies=[*calls("fetch", {}), "ok"])
    assert result_for(run(mode, compiled(model, [fetch]), "?")["messages"], "c0").text == "fetched"


def test_a_tool_that_tries_to_end_the_process_ends_its_call(mode: Mode) -> None:
    def fetch() -> str:
        """Fetch it."""
        raise SystemExit(3)

    model = ScriptedModel(replies=[*calls("fetch", {}), "ok"])
    output = run(mode, compiled(model, [fetch]), "?")
    assert result_for(output["messages"], "c0").status == "error"
    assert output["answer"] == "ok"


def test_a_value_that_cannot_be_shown_is_told_and_does_not_end_the_run(mode: Mode) -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no text")

        __repr__ = __str__

    assert "not shown" in shown(mode, Broken()).text


def test_a_tools_own_timeout_takes_the_place_of_the_runs(mode: Mode) -> None:
    def slow() -> str:
        """Do it slowly."""
        time.sleep(5)
        return "late"

    tool = contract(slow, timeout=0.05, requires_confirmation=False)
    output = run(mode, compiled(ScriptedModel(replies=[*calls("slow", {}), "ok"]), [tool]), "?")
    assert "0.05 s" in result_for(output["messages"], "c0").text


def test_a_timeout_error_of_the_tools_own_is_a_failure_with_a_known_end(mode: Mode) -> None:
    def fetch() -> str:
        """Fetch it."""
        raise TimeoutError("upstream took too long")

    model = ScriptedModel(replies=[*calls("fetch", {}), "ok"])
    text = result_for(run(mode, compiled(model, [fetch]), "?")["messages"], "c0").text
    assert "upstream took too long" in text
    assert "unknown" not in text


def test_jobs_end_in_their_own_order(mode: Mode) -> None:
    jobs = [Job(sync=lambda n=n: n, asynchronous=None, timeout=5) for n in range(4)]  # type: ignore[misc]
    assert [ended.value for ended in run_all(jobs).sync()] == [0, 1, 2, 3]


def test_what_was_read_beside_a_change_is_not_kept(mode: Mode) -> None:
    """Case RES-17: the slow change ends after the read that saw the old state."""
    value = ["old"]

    def change() -> str:
        """Change it."""
        time.sleep(0.2)
        value[0] = "new"
        return "changed"

    def read() -> str:
        """Read it."""
        return value[0]

    tools = [
        contract(change, requires_confirmation=False),
        contract(read, effect="read_only", cache_seconds=60),
    ]
    both = [{"id": "c0", "name": "change", "args": {}}, {"id": "c1", "name": "read", "args": {}}]
    again = {"tool_calls": [{"id": "c2", "name": "read", "args": {}}]}
    model = ScriptedModel(replies=[{"tool_calls": both}, again, "ok"])
    output = run(mode, compiled(model, tools, store=InMemoryStore()), "?")
    assert result_for(output["messages"], "c2").text == "new"
