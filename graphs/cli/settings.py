"""What a run is put together from: what was given, else what the thread recorded, else defaults."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from graphs.database_url import EXAMPLE, VARIABLE, default_place, is_url
from graphs.errors import UsageError
from graphs.thread_ids import NO_THREAD_ID, is_thread_id

DEFAULT_GRAPH = "tools_in_context"
DEFAULT_DB = "rungs.sqlite"

_URL = re.compile(r"[a-z][a-z0-9+.-]*://|(file|sqlite)[a-z0-9+.-]*:", re.IGNORECASE)
OPTIONS = {
    "user_id": "--user",
    "company": "--company",
    "max_tool_rounds": "--max-tool-rounds",
    "max_turns": "--max-turns",
    "max_steps": "--max-steps",
    "read_only": "--read-only",
}
"""The option that sets each field of a run's context."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run; None is what was not given.

    Attributes:
        graph: The variant's name.
        user: Whose notes are read and written.
        model: As `provider:name`.
        docs: The folder that is searched, absolute.
        tools: The tools file, absolute.
        company: The company the assistant works for.
        max_tool_rounds: Tool rounds before the last call.
        read_only: Whether tools that change state are left out.
        max_turns: Turns of a ReAct run.
        max_steps: Steps of a full agent.
        schema: The record's schema, as `load_schema` takes it.
        values: Other fields of the run's context.
    """

    graph: str | None = None
    user: str | None = None
    model: str | None = None
    docs: str | None = None
    tools: str | None = None
    company: str | None = None
    max_tool_rounds: int | None = None
    read_only: bool | None = None
    max_turns: int | None = None
    max_steps: int | None = None
    schema: str | None = None
    values: Mapping[str, Any] | None = None

    def absolute(self) -> Self:
        """Name files and folders such that a later run finds them from any place."""
        schema = self.schema
        if schema is not None and re.search(r"\.py:[^:/]*$|\.json$", schema.strip()):
            schema = _absolute(schema)
        docs, tools = _absolute(self.docs), _absolute(self.tools)
        return replace(self, docs=docs, tools=tools, schema=schema)

    def over(self, recorded: Mapping[str, Any]) -> Self:
        """Fill in what was not given with what a thread recorded."""
        known = {field.name for field in fields(self)}
        missing = {
            name: value
            for name, value in recorded.items()
            if name in known and value is not None and getattr(self, name) is None
        }
        if self.values:
            missing["values"] = {**(recorded.get("values") or {}), **self.values}
        return replace(self, **missing)

    def recorded(self) -> dict[str, Any]:
        """Return what the thread keeps, for `rungs resume` to find, beside the run's context."""
        told = {name: value for name, value in asdict(self).items() if value is not None}
        others = {"graph", "user", "values"}
        return {name: value for name, value in told.items() if name not in others}

    def check_tools(self) -> None:
        """Refuse a tools file without a name.

        Raises:
            UsageError: It is blank.
        """
        if self.tools is not None and not self.tools.strip():
            raise UsageError("no tools file is named: give the path of a tools file with --tools")

    def context(self) -> dict[str, Any]:
        """Return the run's context; what was not given takes the variant's default."""
        given = {
            "user_id": self.user,
            "company": self.company,
            "max_tool_rounds": self.max_tool_rounds,
            "read_only": self.read_only,
            "max_turns": self.max_turns,
            "max_steps": self.max_steps,
        }
        told = {name: value for name, value in given.items() if value is not None}
        return {**(self.values or {}), **told}

    @property
    def model_name(self) -> str:
        """The model: given, else `RUNGS_MODEL`, else the offline controller."""
        if self.model is not None:
            return self.model
        return os.environ.get("RUNGS_MODEL") or "offline"


def read_values(pairs: Sequence[str]) -> dict[str, Any] | None:
    """Read `NAME=VALUE` as fields of a run's context; a value is JSON, else text.

    Raises:
        UsageError: One is not of this form, comes twice, or has an option of its own.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise UsageError(f"--set {pair!r}: write it as NAME=VALUE, such as kept_turns=4")
        if option := {**OPTIONS, "model": "--model"}.get(name):
            raise UsageError(f"--set {name}: it has an option of its own, {option}")
        if name in values:
            raise UsageError(f"--set {name}: it is given twice")
        try:
            values[name] = json.loads(text)
        except (ValueError, RecursionError):
            values[name] = text.strip()
    return values or None


def _absolute(path: str | None) -> str | None:
    if path is None or not path.strip() or "\0" in path:
        return path
    try:
        return str(Path(path).expanduser().absolute())
    except (OSError, RuntimeError):
        return path


def check_thread_id(thread_id: str) -> str:
    """Return a thread id that can be typed, listed and looked up.

    Raises:
        UsageError: It is blank, too long or not printable.
    """
    text = thread_id.strip()
    if not is_thread_id(text):
        raise UsageError(f"{NO_THREAD_ID}: name another one (rungs threads lists those there are)")
    return text


def named_user(user: str | None) -> str | None:
    """Return a user's id as a run's context has it: without blanks around it; None is nobody."""
    return (user or "").strip() or None


def needed_user(user: str) -> str:
    """Return a user's id as `named_user` does.

    Raises:
        UsageError: It is blank.
    """
    if (named := named_user(user)) is None:
        raise UsageError("the user's id is blank: say whose notes with --user")
    return named


def check_db(place: str) -> str:
    """Return where memory is: a file, or a Postgres database by its URL.

    Raises:
        UsageError: It is another URL, which may hold a password and is never quoted.
    """
    if place == os.environ.get(VARIABLE):
        return default_place(place)
    if not is_url(place) and _URL.match(place.strip()):
        raise UsageError(f"this is no URL of a database of ours: name a SQLite file, or {EXAMPLE}")
    return place


def has_memory(place: str) -> bool:
    """Tell whether there is memory to look into: a file that exists, or a database."""
    return is_url(place) or bool(place.strip() and Path(place).expanduser().is_file())


def existing_db(place: str) -> str:
    """Return where memory is that is looked into, which must not create a file.

    Raises:
        UsageError: There is no such file.
    """
    if is_url(place):
        return place
    if not place.strip() or "\0" in place or not Path(place).expanduser().exists():
        raise UsageError(
            f"there is no memory file {place!r} yet: "
            "ask a question first, or name another one with --db"
        )
    return place
