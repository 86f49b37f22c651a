"""The nodes that the variants share, one factory a file."""

from graphs.nodes.approve import approve
from graphs.nodes.call_model import call_model
from graphs.nodes.finalize import finalize
from graphs.nodes.force_call import force_call
from graphs.nodes.run_tools import run_tools
from graphs.nodes.validate_calls import validate_calls
from graphs.nodes.validate_record import validate_record

__all__ = [
    "approve",
    "call_model",
    "finalize",
    "force_call",
    "run_tools",
    "validate_calls",
    "validate_record",
]
