"""Load the schema of a record by the name that was typed."""

import importlib
import importlib.util
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from graphs.cli.screen import one_line
from graphs.errors import UsageError
from tools import ArgumentsError
from tools.strict_json import loads
from tools.text import nearest

HOW = "write module:Model, path/to/file.py:Model or a JSON schema's path/to/schema.json"


def load_schema(spec: str) -> Any:
    """Return the Pydantic model, or the JSON schema, that a text names.

    A module is looked for where Python looks and in the current folder. The module's code is run,
    as it is by any import.

    Args:
        spec: `module:Model`, `path/to/file.py:Model` or `path/to/schema.json`.

    Raises:
        UsageError: There is none, or it is no model: one line that says what to write.
    """
    spec = spec.strip()
    if spec.endswith(".json"):
        return _json_schema(spec)
    place, colon, name = spec.rpartition(":")
    if not colon or not place or not name:
        raise UsageError(f"{spec!r} names no schema: {HOW}")
    with redirect_stdout(sys.stderr):  # what the module prints is none of the results
        module = _from_file(place) if place.endswith(".py") else _module(place)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type) and issubclass(found, BaseModel):
        return found
    raise UsageError(_no_model(place, name, found, module))


def _json_schema(spec: str) -> Any:
    try:
        schema = loads(Path(spec).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{spec} can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{spec} is not UTF-8 text") from None
    except ArgumentsError as error:
        raise UsageError(f"{spec} {error}") from None
    if not isinstance(schema, dict):
        raise UsageError(f"{spec} holds no JSON schema: it must be a JSON object")
    return schema


def _module(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(f"{name!r} is no module's name: {HOW}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(1, here)  # behind our own packages
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and f"{name}.".startswith(f"{error.name}."):
            missing = f"there is no module {error.name!r} in this folder or where Python looks"
            raise UsageError(f"{missing}: {HOW}") from None
        raise UsageError(_failed(name, error)) from error
    except (Exception, SystemExit) as error:
        raise UsageError(_failed(name, error)) from error


def _from_file(place: str) -> ModuleType:
    path = Path(place).expanduser().absolute()
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise UsageError(f"{place} {what}: {HOW}")
    name = f"rungs_schema_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{place} can't be imported: {HOW}")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # what it imports lies beside it
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where annotations are looked up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise UsageError(_failed(place, error)) from error
    return module


def _failed(place: str, error: BaseException) -> str:
    return f"importing {place} failed: {type(error).__name__}: {one_line(str(error))}"


def _no_model(place: str, name: str, found: Any, module: ModuleType) -> str:
    """Say what there is instead, and which models there are."""
    models = [
        key
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, BaseModel) and value is not BaseModel
    ]
    near = nearest(name, models)
    hint = f"did you mean {near}?" if near else f"it has: {', '.join(models) or 'none'}"
    if found is None:
        return f"{place} has no model {name!r}; {hint}"
    kind = "class" if isinstance(found, type) else type(found).__name__
    return f"{place}:{name} is a {kind}, no Pydantic model; {hint}"
