"""The nodes that the variants share, one factory a file."""

from graphs.nodes.approve import approve
from graphs.nodes.call_model import call_model
from graphs.nodes.finalize import finalize
from graphs.nodes.run_tools import run_tools
from graphs.nodes.validate_calls import validate_calls

__all__ = ["approve", "call_model", "finalize", "run_tools", "validate_calls"]
