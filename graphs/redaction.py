"""What is taken out of what a run stores, streams, logs and sends: its tools file's policy."""

import functools
from collections.abc import Iterable
from typing import Any

from langgraph.graph import StateGraph

from graphs.node import Node
from tools import Contract
from tools.redaction_policy import DEFAULT_POLICY, RedactionPolicy
from tools.toolset import ToolSet


def policy_of(*groups: Iterable[Any]) -> RedactionPolicy:
    """Return what the tools files that tools come from say, put together."""
    policies = dict.fromkeys(policy for tools in groups for policy in _policies(tools))
    policies.pop(DEFAULT_POLICY, None)
    return functools.reduce(RedactionPolicy.__or__, policies) if policies else DEFAULT_POLICY


def _policies(tools: Iterable[Any]) -> Iterable[RedactionPolicy]:
    if isinstance(tools, ToolSet):  # which may not be listed yet
        return [tools.redaction]
    return [tool.redaction for tool in tools if isinstance(tool, Contract)]


class RedactingGraph(StateGraph[Any, Any, Any, Any]):
    """A graph whose nodes go by one policy.

    Args:
        policy: What is taken out.
        schemas: As `StateGraph` takes them.
    """

    def __init__(self, *schemas: Any, policy: RedactionPolicy, **more: Any) -> None:
        super().__init__(*schemas, **more)
        self._policy = policy

    def add_node(self, node: Any, action: Any = None, **more: Any) -> Any:
        """Add a node, as LangGraph does, and tell it the policy."""
        for given in (node, action):
            if isinstance(given, Node):
                given.redaction = self._policy
        return super().add_node(node, action, **more)
