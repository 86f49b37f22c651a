"""The tool contract and the tools: what a model may call, and how each call is checked.

Nothing here imports `graphs`, and nothing heavy is imported before a tool needs it.
"""

from tools.arguments import parse_arguments
from tools.contract import CallScope, Checked, Contract, Effect, contract
from tools.errors import (
    ArgumentsError,
    ContractError,
    InjectionError,
    SearchError,
    ToolsFileError,
)
from tools.progress import Progress, StoppedError
from tools.redact import redact, redact_data
from tools.registry import (
    LADDER_FILE,
    LIBRARY_FILE,
    SHOP_FILE,
    as_contracts,
    load_tools,
    unknown_tool,
)
from tools.results import describe_error, limit, render
from tools.toolset import ToolSet, tool_set
from tools.wrapper import Code, Failure, Wrapper

__all__ = [
    "LADDER_FILE",
    "LIBRARY_FILE",
    "SHOP_FILE",
    "ArgumentsError",
    "CallScope",
    "Checked",
    "Code",
    "Contract",
    "ContractError",
    "Effect",
    "Failure",
    "InjectionError",
    "Progress",
    "SearchError",
    "StoppedError",
    "ToolSet",
    "ToolsFileError",
    "Wrapper",
    "as_contracts",
    "contract",
    "describe_error",
    "limit",
    "load_tools",
    "parse_arguments",
    "redact",
    "redact_data",
    "render",
    "tool_set",
    "unknown_tool",
]
