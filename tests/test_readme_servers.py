"""What the README tells the reader to start with make, and then to open."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphs import open_graph
from graphs.local_model import LocalModelError, find_model
from tests.cli import ROOT
from tests.serving import free_port
from tests.test_readme import commands
from tools import load_tools

pytestmark = pytest.mark.enable_socket

ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|localhost):(\d+)")
LAB, STUDIO, MODEL = "make lab", "make studio", "make local-model"
QWEN, OWN_FILE = "make local-model MODEL=qwen", "make local-model GGUF=~/models/any.gguf"


@contextmanager
def started(command: str, home: Path, **more: str) -> Iterator[str]:
    """Start a command of the README as it stands, wait for its address, and end it."""
    assert command in commands()
    settings = {"allow_root": True, "open_browser": False, "port": free_port(), "token": ""}
    (home / "jupyter_server_config.json").write_text(json.dumps({"ServerApp": settings}), "utf-8")
    own = {
        "RUNGS_DB": str(home / "memory.sqlite"),
        "JUPYTER_CONFIG_DIR": str(home),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "PYTHONUNBUFFERED": "1",
        **more,
    }
    log = home / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["sh", "-c", f"exec {command}"],
            cwd=ROOT,
            env={**os.environ, **own},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a Ctrl-C goes to make and all that it started
        )
    try:
        yield address(log, process)
    finally:
        # JupyterLab asks a person whether a Ctrl-C was meant; the others end by it.
        os.killpg(process.pid, signal.SIGTERM if command == LAB else signal.SIGINT)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    assert "Traceback" not in log.read_text("utf-8")


def address(log: Path, process: "subprocess.Popen[bytes]") -> str:
    """Wait for the address that the command tells."""
    end = time.monotonic() + 240
    while time.monotonic() < end:
        said = log.read_text("utf-8", "replace")
        if found := ADDRESS.search(said):
            return f"http://127.0.0.1:{found[1]}"
        assert process.poll() is None, said
        time.sleep(0.1)
    raise AssertionError(log.read_text("utf-8"))


def opened(url: str) -> str:
    """Open a page, which may not be served yet."""
    end = time.monotonic() + 90
    while True:
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return str(answer.read().decode())
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


@pytest.mark.server
def test_make_studio_serves_the_graphs_and_the_page(tmp_path: Path) -> None:
    with started(STUDIO, tmp_path) as url:
        assert "ok" in opened(f"{url}/ok")
        assert "<html" in opened(f"{url}/rungs/")


@pytest.mark.live
def test_make_local_model_serves_a_model(tmp_path: Path) -> None:
    with started(MODEL, tmp_path) as url:
        assert json.loads(opened(f"{url}/v1/models"))["data"]


@pytest.mark.live
def test_make_local_model_serves_a_file_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "any.gguf").symlink_to(find_model("smollm2"))
    with started(OWN_FILE, tmp_path, HOME=str(tmp_path)) as url:
        assert json.loads(opened(f"{url}/v1/models"))["data"]


@pytest.mark.live
def test_the_larger_model_calls_a_tool_and_is_told_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        find_model("qwen")
    except LocalModelError as error:
        pytest.skip(str(error))
    with started(QWEN, tmp_path) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
        calculator = [tool for tool in load_tools() if tool.name == "calculator"]
        with open_graph("tools_in_context", tools=calculator) as graph:
            results = [  # it is free in its words, and one of three may do without the tool
                graph.invoke(
                    {"messages": [("user", "What is 18% of 250? Call the calculator.")]},
                    {"configurable": {"thread_id": thread}},
                    context={"model": "openai:local", "max_tool_rounds": 1},
                )
                for thread in ("t1", "t2", "t3")
            ]
    made = 0
    for result in results:
        calls = [call for m in result["messages"] for call in getattr(m, "tool_calls", ())]
        told = [m.tool_call_id for m in result["messages"] if m.type == "tool"]
        assert told == [call["id"] for call in calls]
        assert result["usage"]["output_tokens"] > 0
        made += [call["name"] for call in calls].count("calculator")
    assert made


@pytest.mark.notebooks
def test_make_lab_serves_the_notebooks(tmp_path: Path) -> None:
    with started(LAB, tmp_path) as url:
        listed = json.loads(opened(f"{url}/api/contents"))["content"]
    assert {path.name for path in ROOT.glob("notebooks/*.ipynb")} <= {f["name"] for f in listed}
