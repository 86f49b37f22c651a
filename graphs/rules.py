"""Stop rules: the conditions on the edges of a state machine."""

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableLambda


class Rule(RunnableLambda[Any, str]):
    """A condition that is called as it is, without a trace run of its own.

    LangGraph would open one for each edge of each step, which costs more than most rules and tells
    no more than the edge that was taken.
    """

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> str:  # noqa: A002, ARG002
        """Apply the rule."""
        return self.func(input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> str:  # noqa: A002, ARG002
        """Apply the rule, which waits for nothing."""
        return self.func(input)


def rule(condition: Callable[[Any], str]) -> Rule:
    """Make a rule of a function from the state, as far as its annotation names it, to a word."""
    return Rule(condition)
