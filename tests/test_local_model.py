"""The files of the small local models: found, put together from parts, checked."""

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from graphs.local_model import MODELS, LocalModelError, check_file, files, find_model

WHOLE = b"GGUF" + bytes(range(256)) * 40


def carry(folder: Path, *, order: tuple[int, ...] = (1, 2, 10)) -> list[Path]:
    """Make wheels that carry the file in three parts, as the index would serve them."""
    cuts = [WHOLE[:4000], WHOLE[4000:8000], WHOLE[8000:]]
    wheels = []
    for place, part in zip(order, cuts, strict=True):
        wheel = folder / f"carrier_part{place}-0.1-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("carrier/__init__.py", "raise SystemExit('never imported')")
            archive.writestr(f"carrier/data/part{place}.bin", part)
        wheels.append(wheel)
    return wheels


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model of ours, whose parts are downloaded from nowhere."""
    model = replace(MODELS["qwen"], size=len(WHOLE), digest=hashlib.sha256(WHOLE).hexdigest())
    monkeypatch.setitem(MODELS, "qwen", model)

    def download(name: str, requirements: Path, into: Path) -> list[Path]:
        assert name == "qwen"
        assert "--hash=sha256:" in requirements.read_text(encoding="utf-8")
        return sorted(carry(into), key=files._place)

    monkeypatch.setattr(files, "_download", download)
    return tmp_path / "models"


def test_parts_are_put_together_in_their_order_once(
    carried: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = find_model("qwen", carried)
    assert file.read_bytes() == WHOLE
    assert [found.name for found in carried.iterdir()] == ["qwen.gguf"]

    def again(*_: object) -> list[Path]:
        raise AssertionError("a file that is there is not fetched")

    monkeypatch.setattr(files, "_download", again)
    assert find_model("qwen", carried) == file


def test_a_file_that_is_not_the_publishers_is_thrown_away(
    carried: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODELS, "qwen", replace(MODELS["qwen"], digest="0" * 64))
    with pytest.raises(LocalModelError, match="not the file its publisher names"):
        find_model("qwen", carried)
    assert list(carried.iterdir()) == []


def test_an_unknown_name_tells_those_that_exist() -> None:
    with pytest.raises(LocalModelError, match="no model 'gpt'; there are: smollm2, qwen"):
        find_model("gpt")


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "no such file"), (b"hello", "no GGUF file"), (b"", "no GGUF file")],
)
def test_what_is_no_model_file_is_refused_in_a_sentence(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    file = tmp_path / "some.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(LocalModelError, match=reason):
        check_file(file)


def test_every_wheel_of_a_carried_model_is_pinned_by_its_hash() -> None:
    for model in MODELS.values():
        if model.parts:
            pinned = (Path(files.__file__).parent / model.parts).read_text(encoding="utf-8")
            lines = pinned.split("\n")
            assert all(" --hash=sha256:" in line for line in lines if line)
