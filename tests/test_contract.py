"""The contract: how calls are checked, and what a function gets."""

import asyncio
import functools
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, Field

from tests.calling import Line, Order, calculator, from_schema, refused, run, save_note
from tools import ContractError, as_contracts, contract, unknown_tool


def search_products(query: str) -> str:
    """Search the products index (acquisitions, product warranties)."""
    return query


# --- the seed's four sample calls ---


def test_a_call_that_keeps_the_contract_passes() -> None:
    checked = contract(search_products).check({"query": "who acquired Acme"})
    assert (checked.arguments, checked.error) == ({"query": "who acquired Acme"}, None)


def test_a_call_to_a_tool_that_does_not_exist_lists_those_that_do() -> None:
    made = [contract(search_products), contract(calculator)]
    assert unknown_tool("search_web", made) == (
        "Tool 'search_web' does not exist. Available tools: search_products, calculator."
    )


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("closed", [{}, {"additionalProperties": False}])
def test_an_argument_that_fits_no_form_is_not_taken_for_an_unknown_one(
    keyword: str, closed: dict[str, Any]
) -> None:
    forms = [
        {"properties": {"a": {"type": "string"}}, "required": ["a"], **closed},
        {"properties": {"b": {"type": "integer"}}, "required": ["b"], **closed},
    ]
    schema = {"type": "object", keyword: forms}
    tool = {"name": "t", "description": "T.", "parameters": schema, "function": lambda **_: ""}
    said = refused(contract(tool), {"a": 1})
    assert "takes argument 'a' in another form" in said
    assert "does not take" not in said
    assert "did you mean" not in said
    assert "does not take argument 'c'; it takes: a, b" in refused(contract(tool), {"c": 1})


def test_a_missing_required_argument_is_named_and_so_is_the_misspelt_one() -> None:
    assert refused(contract(calculator), {"expr": "0.18 * 250"}) == (
        "calculator is missing required argument 'expression';"
        " does not take argument 'expr' (did you mean 'expression'?); it takes: expression"
    )


def test_an_argument_of_the_wrong_type_is_named_with_both_types() -> None:
    assert refused(contract(calculator), {"expression": 42}) == (
        "calculator argument 'expression' must be string, got integer 42"
    )


def test_an_unknown_tool_is_answered_with_the_callable_names() -> None:
    """Case MUL-09."""
    made = [contract(calculator, name=name) for name in ("find_files", "read_file")]
    assert unknown_tool("search_files", made) == (
        "Tool 'search_files' does not exist. Available tools: find_files, read_file."
    )
    assert "Did you mean 'read_file'?" in unknown_tool("readFile", made)
    assert unknown_tool("x", []) == "Tool 'x' does not exist. No tools are available."
    assert len(unknown_tool("x\n" * 1000, made)) < 200


# --- what the function gets ---


def test_models_dates_and_defaults_arrive_as_the_annotations_say() -> None:
    def book(
        order: Order, day: date, size: Literal["s", "l"] = "s", tags: tuple[str, ...] = ()
    ) -> Any:
        """Book it."""
        return order, day, size, tags

    made = contract(book)
    arguments = {"order": {"lines": [{"sku": "a"}]}, "day": "2026-03-01", "tags": ["x"]}
    order, day, size, tags = run(made, arguments)
    assert order == Order(lines=[Line(sku="a", count=1)])
    assert (day, size, tags) == (date(2026, 3, 1), "s", ("x",))
    assert "argument 'day' must be a date as YYYY-MM-DD" in refused(
        made, {**arguments, "day": "soon"}
    )


def test_what_is_recorded_is_plain_json_with_the_defaults() -> None:
    """Case ARG-17."""

    def find(day: date, limit: int = 20) -> Any:
        """Find."""
        return day, limit

    checked = contract(find).check({"day": "2026-03-01"})
    assert checked.arguments == {"day": "2026-03-01", "limit": 20}


def test_what_annotations_demand_beyond_the_schema_is_checked_before_anything_runs() -> None:
    def even(n: int) -> int:
        if n % 2:
            raise ValueError("must be even")
        return n

    def halve(n: Annotated[int, AfterValidator(even)]) -> int:
        """Halve an even number."""
        return n // 2

    made = contract(halve)
    assert run(made, {"n": 4}) == 2
    assert refused(made, {"n": 3}) == ("halve argument 'n' is not valid: Value error, must be even")


def test_parameters_may_have_any_name() -> None:
    def odd(schema: str, config: str, model_config: str, _x: int = 1, self_: str = "") -> Any:
        """Odd names."""
        return schema, config, model_config, _x

    arguments = {"schema": "a", "config": "b", "model_config": "c", "_x": 2}
    assert run(contract(odd), arguments) == ("a", "b", "c", 2)


def test_a_parameter_may_be_described_by_a_field() -> None:
    def pick(n: int = Field(default=3, ge=1, description="How many.")) -> int:
        """Pick."""
        return n

    made = contract(pick)
    shown = made.parameters["properties"]["n"]
    assert shown == {"type": "integer", "default": 3, "minimum": 1, "description": "How many."}
    assert run(made, {}) == 3
    assert "at least 1" in refused(made, {"n": 0})


def test_a_function_with_open_keywords_takes_any_argument() -> None:
    def log(level: str, **fields: Any) -> Any:
        """Log."""
        return level, fields

    assert run(contract(log), {"level": "info", "a": 1}) == ("info", {"a": 1})


def test_a_tool_cannot_alter_what_is_on_record() -> None:
    def spoil(items: Any) -> None:
        """Spoil."""
        items.clear()

    for made in (contract(spoil), from_schema({"properties": {"items": {}}}, spoil)):
        recorded = {"items": [1, {"a": []}]}
        run(made, recorded)
        assert recorded == {"items": [1, {"a": []}]}


def test_an_async_function_is_awaited_and_a_sync_one_called() -> None:
    async def wait(n: int) -> int:
        """Wait."""
        await asyncio.sleep(0)
        return n

    made = contract(wait)
    assert made.sync is None
    assert run(made, {"n": 1}) == 1
    assert contract(calculator).asynchronous is None


def test_methods_partials_and_objects_can_be_tools() -> None:
    class Shop:
        """Look a price up."""

        def price(self, sku: str) -> str:
            """Say what it costs."""
            return f"{sku}: 3"

        def __call__(self, sku: str) -> str:
            return f"{sku}: 4"

    def price(sku: str, currency: str) -> str:
        """Say what it costs."""
        return f"{sku}: 5 {currency}"

    assert run(contract(Shop().price), {"sku": "a"}) == "a: 3"
    assert run(contract(Shop(), name="shop"), {"sku": "a"}) == "a: 4"
    bound = contract(functools.partial(price, currency="EUR"))
    assert bound.name == "price"
    assert list(bound.parameters["properties"]) == ["sku"]
    assert run(bound, {"sku": "a"}) == "a: 5 EUR"


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda: contract(lambda x: x, name="t"), "no description"),
        (lambda: contract(calculator, name="größe"), "1 to 64 letters"),
        (lambda: contract(calculator, name="a" * 65), "1 to 64 letters"),
        (lambda: contract(calculator, name="a b", spoken=True), "'.', ':' and '/'"),
        (lambda: contract(calculator, name="a[b", spoken=True), "'.', ':' and '/'"),
        (lambda: as_contracts([contract(calculator, name="crm.find", spoken=True)]), "1 to 64"),
        (lambda: contract(calculator, effect="harmless"), "effect is"),  # type: ignore[arg-type]
        (lambda: contract(calculator, timeout=0), "timeout is"),
        (lambda: contract(calculator, timeout=float("inf")), "timeout is"),
        (lambda: contract(calculator, cache_seconds=9), "only a read_only tool"),
        (lambda: contract(calculator, effect="read_only", cache_seconds=0), "at least 1"),
        (lambda: contract(42), "not int"),
        (lambda: contract(Order), "not ModelMetaclass"),
        (lambda: contract({"name": "t", "function": calculator, "effects": 1}), "'effects'"),
        (lambda: contract({"name": "t", "description": "x"}), "'function' to call"),
        (lambda: contract({"description": "x"}), "'name'"),
        (lambda: from_schema({"properties": {"city": {}}}, calculator), "'city'"),
        (lambda: from_schema({}, calculator), "needs 'expression'"),
        (lambda: contract(_star), "'parts' can't be given by name"),
        (lambda: contract(_positional), "'n' can't be given by name"),
        (lambda: contract(_yields), "it yields"),
        (lambda: contract(_unknown), "can't be read"),
        (lambda: contract(_no_schema), "no JSON schema"),
    ],
)
def test_a_tool_that_cannot_be_offered_is_refused_by_name(
    made: Callable[[], Any], reason: str
) -> None:
    with pytest.raises(ContractError) as caught:
        made()
    assert reason in str(caught.value)
    assert str(caught.value).startswith("tool '")
    assert "\n" not in str(caught.value)


def _star(*parts: str) -> None:
    """Take many."""


def _positional(n: int, /) -> None:
    """Take one."""


def _yields(n: int) -> Any:
    """Yield."""
    yield n


def _unknown(n: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821
    """Take something unknown."""


def _no_schema(n: asyncio.Event) -> None:
    """Take something that no JSON stands for."""


# --- policy and fingerprint ---


def test_a_tool_of_unknown_effect_counts_as_state_changing_and_needs_confirmation() -> None:
    made = contract(calculator)
    assert (made.effect, made.requires_confirmation) == ("state_changing", True)
    made = contract(calculator, effect="read_only", cache_seconds=300, timeout=2.5)
    assert (made.requires_confirmation, made.cache_seconds, made.timeout) == (False, 300, 2.5)


def test_a_contract_can_be_made_again_with_another_policy() -> None:
    made = contract(contract(save_note, timeout=3), requires_confirmation=False, name="note")
    assert (made.name, made.timeout, made.requires_confirmation) == ("note", 3, False)
    assert run(made, {"text": "hi"}) == ("hi", "u-ann", "tok-123")


def test_only_the_first_paragraph_of_a_description_is_shown_on_one_line() -> None:
    made = contract(calculator, description="Adds.\n  Use it\n\nfor sums. " + "x" * 2000)
    assert made.description.startswith("Adds. Use it for sums. xxx")
    assert len(made.description) == 1024


def test_the_fingerprint_changes_with_all_that_a_cached_answer_depends_on() -> None:
    """Case RES-19."""

    def price(sku: str) -> str:
        """Say the price."""
        return f"{sku}: 3"

    first = contract(price)

    def again(sku: str) -> str:
        """Say the price."""
        return f"{sku}: 4"

    again.__qualname__ = price.__qualname__
    others = [
        contract(again, name="price"),
        contract(price, name="cost"),
        contract(price, description="Say the price in EUR."),
        contract(functools.partial(lambda sku, c: sku, c=1), name="price", description="x"),
        contract(functools.partial(lambda sku, c: sku, c=2), name="price", description="x"),
    ]
    prints = [made.fingerprint for made in (first, *others)]
    assert len(set(prints)) == len(prints)
    assert contract(price).fingerprint == first.fingerprint


async def test_the_fingerprint_is_the_same_in_every_process() -> None:
    script = (
        "from tools import contract\n"
        "def f(x: str) -> bool:\n"
        "    'F.'\n"
        "    return x in {'a', 'b', 'c', 'd'} or (lambda: x)() == 'e'\n"
        "print(contract(f).fingerprint)\n"
    )
    seen = set()
    for seed in ("1", "2", "3"):
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            script,
            env={"PYTHONHASHSEED": seed},
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate()
        seen.add(out)
    assert len(seen) == 1
    assert len(seen.pop().strip()) == 32


def test_importing_the_tools_imports_no_framework() -> None:
    script = (
        "import sys, tools; print(sorted({'langgraph', 'langchain_core', 'pydantic', 'graphs'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
