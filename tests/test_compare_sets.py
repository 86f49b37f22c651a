"""The question sets that ship: every expected answer is really in the documents."""

import json
import re
from collections import Counter
from typing import Any

import pytest

from graphs.compare.checks import check
from graphs.compare.questions import SETS, read_questions, shipped_sets
from tools.calculator import calculator
from tools.search_docs import HELP_CENTER

LINES: list[tuple[str, dict[str, Any]]] = [
    (name, json.loads(line))
    for name in shipped_sets()
    for line in (SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
]
DOCUMENTS = {
    path.name: " ".join(path.read_text(encoding="utf-8").split())
    for path in HELP_CENTER.glob("*.md")
}


def test_two_sets_ship_the_essay_s_and_one_by_hops() -> None:
    assert shipped_sets() == ["essay", "hops"]
    for name in shipped_sets():
        read_questions(name, judge=False)
    questions = {line["question"] for name, line in LINES if name == "essay"}
    assert "What is 18% of a $250 order?" in questions
    assert (
        "What is the warranty on the earbuds made by the company that acquired Acme?" in questions
    )


def test_the_set_by_hops_has_at_least_sixty_questions_of_one_two_and_three_hops() -> None:
    counts = Counter(line["hops"] for name, line in LINES if name == "hops")
    assert set(counts) == {1, 2, 3}
    assert sum(counts.values()) >= 60
    assert min(counts.values()) >= 15


FOUND = [(name, line) for name, line in LINES if "note" not in line and line.get("documents")]


@pytest.mark.parametrize(("name", "line"), FOUND, ids=[f"{n}-{line['id']}" for n, line in FOUND])
def test_each_expected_answer_stands_in_the_last_of_its_documents(
    name: str, line: dict[str, Any]
) -> None:
    expected = line["expected"] if isinstance(line["expected"], list) else [line["expected"]]
    (question,) = [q for q in read_questions(name, judge=False) if q.id == line["id"]]
    assert check(question, DOCUMENTS[line["documents"][-1]]).correct
    assert len(line["documents"]) == max(1, line["hops"])
    for earlier in line["documents"][:-1]:
        lacking = [part for part in expected if part not in DOCUMENTS[earlier]]
        assert lacking, "an earlier document gives the answer away"


@pytest.mark.parametrize(
    "line", [line for _, line in LINES if isinstance(line["expected"], int | float)],
    ids=lambda line: line["id"],
)  # fmt: skip
def test_each_expected_number_is_what_the_calculator_says(line: dict[str, Any]) -> None:
    sums = line.get("note") or "18% * 250"
    assert float(calculator(sums)) == line["expected"]
    for number in re.findall(r"\d+", sums)[:2]:
        assert number in line["question"]


def test_each_hop_leads_to_the_next_by_a_name_that_the_document_gives() -> None:
    for _, line in LINES:
        if len(line.get("documents", ())) < 2:
            continue
        for before, after in zip(line["documents"], line["documents"][1:], strict=False):
            names = set(re.findall(r"\b(?:Globex|Umbrella|Initech|Norvik|Tessel|Halden)\b",
                                   DOCUMENTS[before]))  # fmt: skip
            assert any(name in DOCUMENTS[after] for name in names), line["id"]
            assert any(name not in line["question"] for name in names), line["id"]
