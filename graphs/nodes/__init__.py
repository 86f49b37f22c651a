"""The nodes that the variants share, one factory a file."""

from graphs.nodes.answer import answer
from graphs.nodes.approve import approve
from graphs.nodes.call_model import call_model
from graphs.nodes.climb import climb
from graphs.nodes.finalize import finalize
from graphs.nodes.finish import finish
from graphs.nodes.force_call import force_call
from graphs.nodes.run_tools import run_tools
from graphs.nodes.search_catalog import search_catalog
from graphs.nodes.take_step import take_step
from graphs.nodes.validate_calls import validate_calls
from graphs.nodes.validate_record import validate_record

__all__ = [
    "answer",
    "approve",
    "call_model",
    "climb",
    "finalize",
    "finish",
    "force_call",
    "run_tools",
    "search_catalog",
    "take_step",
    "validate_calls",
    "validate_record",
]
