"""Injected values: never shown, never told, never set by a model."""

from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolArg, InjectedToolCallId
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from tests.calling import SCOPE, STORE, Context, from_schema, refused, run, save_note
from tools import CallScope, InjectionError, contract


def test_injected_values_are_neither_shown_nor_told_in_errors() -> None:
    """Case ARG-21."""
    made = contract(save_note)
    assert list(made.parameters["properties"]) == ["text"]
    said = refused(made, {"txt": "hi"})
    assert "u-ann" not in said
    assert "tok-123" not in said
    assert said == (
        "save_note is missing required argument 'text';"
        " does not take argument 'txt' (did you mean 'text'?); it takes: text"
    )
    assert run(made, {"text": "hi"}) == ("hi", "u-ann", "tok-123")


def test_a_model_cannot_set_an_injected_value() -> None:
    def note(text: str, user_id: Annotated[str, InjectedToolArg], **more: Any) -> Any:
        """Note."""
        return text, user_id, more

    for made in (contract(save_note), contract(note)):
        assert "does not take argument 'user_id'" in refused(
            made, {"text": "hi", "user_id": "u-bob"}
        )


def test_every_kind_of_injected_value_comes_from_the_scope_of_the_call() -> None:
    def everything(  # noqa: PLR0917
        text: str,
        runtime: Runtime[Context],
        tool_runtime: ToolRuntime,
        config: RunnableConfig,
        state: Annotated[dict[str, Any], InjectedState],
        turn: Annotated[int, InjectedState("turn")],
        store: Annotated[Any, InjectedStore()],
        base_store: BaseStore | None,
        call_id: Annotated[str, InjectedToolCallId],
        tenant: Annotated[str, InjectedToolArg],
        limit: Annotated[int, InjectedToolArg] = 7,
    ) -> Any:
        """Take it all."""
        return locals()

    made = contract(everything)
    assert list(made.parameters["properties"]) == ["text"]
    got = run(made, {"text": "x"})
    assert got["runtime"] is SCOPE.runtime
    assert got["tool_runtime"].context == Context()
    assert got["tool_runtime"].tool_call_id == "c1"
    assert got["config"] == SCOPE.config
    assert (got["state"], got["turn"]) == (SCOPE.state, 3)
    assert got["store"] is got["base_store"] is STORE
    assert (got["call_id"], got["tenant"], got["limit"]) == ("c1", "acme", 7)


def test_an_injected_value_that_is_not_there_is_an_error_of_the_application() -> None:
    made = contract(save_note)
    with pytest.raises(InjectionError, match="no value for 'user_id'"):
        made.fill({"text": "x"}, CallScope())


def test_a_mapping_with_a_function_may_have_injected_parameters_too() -> None:
    made = from_schema({"properties": {"text": {"type": "string"}, "token": {}}}, calculator_like)
    assert run(made, {"text": "a", "token": "t"}) == ("a", "t", "u-ann")


def calculator_like(text: str, token: str, user_id: Annotated[str, InjectedToolArg]) -> Any:
    return text, token, user_id


def test_a_tool_that_changes_the_state_it_was_given_changes_its_own_copy() -> None:
    def forget(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Forget everything."""
        state["messages"].clear()
        return "forgotten"

    state = {"messages": [1, 2]}
    tool = contract(forget)
    assert tool.sync is not None
    tool.sync(**tool.fill({}, CallScope(state=state)))
    assert state == {"messages": [1, 2]}
