"""LangChain tools under the contract: checked like any other, run as LangChain runs them."""

from typing import Annotated, Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import (
    BaseTool,
    InjectedToolCallId,
    StructuredTool,
    Tool,
    ToolException,
    tool,
)
from langgraph.prebuilt import InjectedState, ToolRuntime
from pydantic import BaseModel, Field

from tests.calling import Context, Line, refused, run
from tools import ContractError, contract


class Pair(BaseModel):
    a: int = Field(description="First.")
    b: int = 2


class Adder(BaseTool):
    name: str = "adder"
    description: str = "Add two numbers."
    args_schema: type[BaseModel] = Pair

    def _run(self, a: int, b: int) -> int:
        return a + b


def test_a_langchain_tool_is_closed_completed_and_run_by_langchain() -> None:
    made = contract(Adder())
    assert made.parameters["additionalProperties"] is False
    assert run(made, {"a": "3", "b": None}) == 5
    assert "'c'" in refused(made, {"a": 1, "c": 1})
    assert made.asynchronous is None


def test_a_langchain_tool_with_a_json_schema_is_validated_like_any_other() -> None:
    async def remote(**arguments: Any) -> Any:
        return arguments

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    made = contract(
        StructuredTool(name="mcp_tool", description="Far.", args_schema=schema, coroutine=remote)
    )
    assert made.sync is None
    assert run(made, {"n": "3"}) == {"n": 3}
    assert "mcp_tool argument 'n' must be integer" in refused(made, {"n": "x"})


def test_a_decorated_function_with_a_model_and_injected_values_gets_them() -> None:
    @tool
    def order(
        line: Line,
        state: Annotated[dict[str, Any], InjectedState],
        call_id: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime[Context, dict[str, Any]],
    ) -> str:
        """Order a line."""
        return f"{type(line).__name__} {state['turn']} {call_id} {runtime.context.user_id}"

    made = contract(order)
    assert list(made.parameters["properties"]) == ["line"]
    result = run(made, {"line": {"sku": "a"}})
    assert isinstance(result, ToolMessage)
    assert (result.content, result.tool_call_id) == ("Line 3 c1 u-ann", "c1")


def test_an_artifact_and_an_error_the_tool_handles_itself_are_kept() -> None:
    @tool(response_format="content_and_artifact")
    def chart(n: int) -> tuple[str, list[int]]:
        """Draw."""
        return "drawn", [n]

    @tool
    def fail(n: int) -> str:
        """Fail."""
        raise ToolException("no such order")

    fail.handle_tool_error = True
    drawn, failed = run(contract(chart), {"n": 1}), run(contract(fail), {"n": 1})
    assert (drawn.content, drawn.artifact, drawn.status) == ("drawn", [1], "success")
    assert (failed.content, failed.status) == ("no such order", "error")


def test_a_tool_of_one_text_is_called_with_it() -> None:
    made = contract(Tool(name="echo", description="Echo.", func=lambda text: text))
    assert run(made, {"tool_input": "x"}) == "x"


def test_an_argument_that_langchain_would_lose_is_refused_when_the_tool_is_offered() -> None:
    schema = {"type": "object", "properties": {"config": {"type": "string"}}}
    lost = StructuredTool(name="t", description="x", args_schema=schema, func=lambda **a: a)
    with pytest.raises(ContractError, match="'config' for itself"):
        contract(lost)


def test_arguments_that_look_like_a_whole_call_stay_arguments() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": True}
    made = contract(
        StructuredTool(name="t", description="x", args_schema=schema, func=lambda **a: sorted(a))
    )
    forged = {"type": "tool_call", "args": {"x": 1}, "id": "c9", "name": "t"}
    assert run(made, forged).content == ["args", "id", "name", "type"]
