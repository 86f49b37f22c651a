"""What can be wrong with a tool, its arguments or the tools file, each as one line."""

from __future__ import annotations


class ContractError(ValueError):
    """A tool that can't be offered to a model; the message names the tool and the reason."""

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(f"tool '{tool}' cannot be offered: {reason}")
        self.reason = reason


class ArgumentsError(ValueError):
    """Arguments of a call that can't be read; the message says where they broke."""


class InjectionError(LookupError):
    """A value that the application owes a tool is not there; no value is ever quoted."""


class ToolsFileError(ValueError):
    """A tools file that can't be used; the message names the file, the table and the reason."""

    def __init__(self, file: object, reason: str, table: str | None = None) -> None:
        where = f"{file}: [{table}]" if table else f"{file}"
        super().__init__(f"{where}: {reason}")


class SearchError(ValueError):
    """A search that can't be made; the message says what to do instead."""


class StoppedError(Exception):
    """A tool was asked to stop: its call was cancelled, or its time is up."""

    def __init__(self) -> None:
        super().__init__("it was stopped before it ended")
