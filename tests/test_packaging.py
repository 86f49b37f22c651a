"""The house: what is installed, what is pinned, and the two commands of a newcomer."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import graphs
import prompts
import tools
from graphs import GRAPHS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_three_packages_come_from_here() -> None:
    for package in (graphs, tools, prompts):
        assert Path(package.__file__ or "").parent == ROOT / package.__name__


@pytest.mark.processes
def test_a_stray_tools_package_does_not_win_over_ours(tmp_path: Path) -> None:
    for name in ("tools", "prompts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('stray')", encoding="utf-8")
    said = subprocess.run(
        [sys.executable, "-m", "graphs.cli", "ask", "What is 1+1?", "--quiet", "--db", "m.sqlite"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    assert "2" in said.stdout


def test_it_is_never_uploaded_by_mistake() -> None:
    assert "Private :: Do Not Upload" in PROJECT["project"]["classifiers"]
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["graphs", "tools", "prompts"]


def pins() -> dict[str, str]:
    """Return the pinned versions by name."""
    lines = [line for line in CONSTRAINTS.splitlines() if line and not line.startswith("#")]
    found: dict[str, str] = {}
    for line in lines:
        match = re.fullmatch(
            r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+]+)( ; [a-z_]+ == \"[^\"]+\")?", line
        )
        assert match, line
        found[canonicalize_name(match[1])] = match[2]
    return found


def test_every_dependency_is_pinned_by_name_and_version_alone() -> None:
    pinned = pins()
    assert "://" not in CONSTRAINTS
    groups = [line for group in PROJECT["dependency-groups"].values() for line in group]
    extras = PROJECT["project"]["optional-dependencies"].values()
    queue = [
        *PROJECT["project"]["dependencies"],
        *groups,
        *(line for extra in extras for line in extra),
    ]
    queue += PROJECT["build-system"]["requires"]
    # Installed with --no-deps: nothing of what it depends on is.
    alone = {canonicalize_name(line) for line in PROJECT["dependency-groups"]["bench-data"]}
    seen: set[str] = set()
    while queue:
        wanted = Requirement(queue.pop())
        name = canonicalize_name(wanted.name)
        assert name in pinned, f"{name} is not in constraints.txt"
        for extra in ("", *sorted(wanted.extras)):
            if (key := f"{name}[{extra}]") in seen:
                continue
            seen.add(key)
            if name not in alone:
                queue += [line for line in needs(name) if applies(Requirement(line), extra)]


def needs(name: str) -> list[str]:
    """Return what a package requires; one that is not installed here (a build tool) is left out."""
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def applies(wanted: Requirement, extra: str) -> bool:
    """Tell whether a requirement holds here, for an extra or for none."""
    return wanted.marker is None or wanted.marker.evaluate({"extra": extra})


def test_the_constraints_satisfy_what_the_project_asks_for() -> None:
    pinned = pins()
    for line in (*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]):
        wanted = Requirement(line)
        assert wanted.specifier.contains(pinned[canonicalize_name(wanted.name)]), line


def test_no_file_of_the_house_names_a_registry() -> None:
    assert not (ROOT / "uv.lock").exists()
    house = ["pyproject.toml", "constraints.txt", "Makefile", ".ci/run", ".pre-commit-config.yaml"]
    for name in house:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(r"https?://|index-url|find-links|\bpypi\b", text), name


def test_the_server_is_given_the_same_graphs_and_the_memory_file() -> None:
    server = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
    assert set(server["graphs"]) == set(GRAPHS)
    for path in (server["checkpointer"]["path"], server["store"]["path"]):
        module, _, name = path.rpartition(".")
        assert callable(getattr(__import__(module, fromlist=[name]), name))


# ---- the Makefile


def make(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run make with a python that prints what it is given, in place of the environment's."""
    return subprocess.run(
        ["make", "--no-print-directory", "-C", str(ROOT), *arguments],
        env={**outside_make(), **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def outside_make() -> dict[str, str]:
    """Return the environment without what a `make test` around these tests has put there."""
    inside = {"Q", "DOCS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    return {name: value for name, value in os.environ.items() if name not in inside}


@pytest.fixture
def venv(tmp_path: Path) -> str:
    """An environment that is ready, and whose python prints its arguments, one a line."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    code = "import json, sys; print(json.dumps(sys.argv[1:]))"
    command = shlex.join([sys.executable, "-c", code])
    python.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    for name in (".ready-to-run", ".ready-to-develop"):
        (tmp_path / name).touch()
    return str(tmp_path)


WORDS = [
    "it's 18% of $250, `id` and $(touch pwned) $$ ${HOME}",
    'say "hi" \\ #1; rm -rf / & | > x',
    "$(shell touch pwned)",
    "größer als 5 €?",
    "two\nlines",
    "--help",
    "-",
]


@pytest.mark.parametrize("words", WORDS)
def test_make_run_passes_the_user_s_words_on_as_they_are(venv: str, words: str) -> None:
    said = make("run", f"VENV={venv}", f"Q={words}", f"DOCS=~/my {words}")
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout) == [
        *("-m", "graphs.cli", "ask", "--docs", f"~/my {words}", "--", words)
    ]
    assert not (ROOT / "pwned").exists()


@pytest.mark.parametrize("words", WORDS)
def test_a_docs_of_the_shell_is_somebody_else_s_and_not_taken(venv: str, words: str) -> None:
    said = make("run", f"VENV={venv}", env={"Q": words, "DOCS": f"~/my {words}"})
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout) == ["-m", "graphs.cli", "ask", "--", words]
    assert not (ROOT / "pwned").exists()


def test_make_clean_removes_an_environment_and_nothing_that_is_none(tmp_path: Path) -> None:
    plan = make("-n", "clean").stdout
    assert "rungs.sqlite" not in plan
    assert "pyvenv.cfg ]; then rm -rf .venv" in plan
    assert set(re.findall(r"rm -rf (\S+)", plan)) == {
        ".venv;",
        ".venv-cluster;",
        ".pytest_cache",
        "{}",
    }


def test_make_run_has_a_question_of_its_own_and_searches_the_shipped_documents(venv: str) -> None:
    said = json.loads(make("run", f"VENV={venv}").stdout)
    assert said[:4] == ["-m", "graphs.cli", "ask", "--"]
    assert "$250" in said[4]


def test_a_blank_question_or_folder_is_passed_on_to_be_refused(venv: str) -> None:
    said = json.loads(make("run", f"VENV={venv}", "Q=", "DOCS=").stdout)
    assert said == ["-m", "graphs.cli", "ask", "--docs", "", "--", ""]


def test_setting_up_is_skipped_when_nothing_changed(venv: str) -> None:
    assert "Setting up" not in make("test", f"VENV={venv}").stderr


def test_help_lists_the_targets_that_exist() -> None:
    listed = re.findall(r"make ([a-z-]+)", make("help").stdout)
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    assert {"help", "run", "test", "check", "drawings", "studio"} <= set(listed) <= targets
    assert make().stdout == make("help").stdout


def test_the_hooks_are_the_make_targets() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"repo: (\S+)", text)) == {"local"}
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    for entry in re.findall(r"entry: (.+)", text):
        assert entry.split()[0] == "make"
        assert entry.split()[1] in targets
