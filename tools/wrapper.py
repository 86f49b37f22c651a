"""Tools through which other tools are called, such as `tool_call(name, input)`.

A call of such a tool is a call of another one. Whatever decides about calls (approval, read-only,
cache, timeout, repeats, redaction, ledger, audit) looks at that other tool and its arguments; the
wrapper's own function never runs (SPEC section 4, "Policy on the effective call").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tools.contract import Contract

Code = Literal[
    "unknown_tool",  # no tool has the name, or it is gone
    "not_loaded",  # the tool is in a catalog, and a search has to load it first
    "invalid_arguments",  # the arguments did not parse, or are not valid by the tool's schema
    "not_permitted",  # the run is read-only, or the call needs a yes that nobody gave
    "rejected",  # a person said no
    "repeated",  # the same call again and again
    "limit_reached",  # too many calls in a reply or a run
    "timeout",  # no result in time: the outcome is unknown
    "interrupted",  # superseded, cut short by a crash or a cancel
    "failed",  # the tool ran and failed
]
"""Why a call gave no result."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call gave no result, in the parts that a wrapper may put together its own way.

    Attributes:
        code: What kind of failure it is.
        message: What happened and how to do better, in a sentence.
        retryable: Whether the very same call may work when it is made again.
    """

    code: Code
    message: str
    retryable: bool


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How a call of one tool is a call of another.

    Attributes:
        tools: The tools that can be called through it, by name; it may be read at each call.
        unwrap: Takes the wrapper's arguments, valid by its schema, and returns the name of the
            tool that is meant and its arguments, which are checked like a direct call's.
        failure: Puts an error into the wrapper's own shape; None leaves it a sentence.
        unknown: Says in a sentence that no tool has a name; None lists those that exist.
    """

    tools: Mapping[str, Contract]
    unwrap: Callable[[Mapping[str, Any]], tuple[str, Mapping[str, Any]]]
    failure: Callable[[Failure], str] | None = None
    unknown: Callable[[str], str] | None = None
