"""`rungs compare`: each question to each graph, what is finished kept, a failure a row."""

import errno
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from graphs.compare.checks import check
from graphs.compare.comparison import Comparison, StoppedError
from graphs.compare.contestants import Contestant, Stage
from graphs.compare.journal import Journal, JournalError
from graphs.compare.judging import Judge
from graphs.compare.numbers import numbers_in
from graphs.compare.prices import Price, PricesError, cost, read_prices
from graphs.compare.questions import Question, QuestionsError, read_questions
from graphs.compare.rows import Row
from graphs.compare.summary import lowest, lowest_counts, summarize
from graphs.models import ScriptedModel
from tests.cli import LONGEST, ROOT, Said, home, rungs, scripted

__all__ = ["home"]

YES = {"text": "yes"}
USAGE = {"input_tokens": 1000, "output_tokens": 100}


def written(folder: Path, *lines: Any) -> str:
    """Write a questions file; a text is a line as it stands."""
    path = folder / "questions.jsonl"
    told = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(told) + "\n", encoding="utf-8")
    return str(path)


def asked(text: str = "q?", expected: Any = ("yes",), how: Any = "contains") -> Question:
    return Question("1", text, expected, how)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "compare.html.rows.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["row"] for line in lines[1:]]


# ---- the questions file


def test_a_line_says_what_is_expected_and_how_it_is_checked(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"question": "a?", "expected": 45},
        {"question": "b?", "expected": "text", "hops": 2, "id": "b"},
        "",
        {"question": "c?", "expected": ["x", "y"]},
        {"question": "d?", "expected": "z", "check": "exact"},
        {"question": "e?", "expected": "z", "check": "judge"},
    )
    found = read_questions(path, judge=True)
    assert [(q.id, q.check, q.expected, q.hops) for q in found] == [
        ("1", "number", Decimal(45), None),
        ("b", "contains", ("text",), 2),
        ("4", "contains", ("x", "y"), None),
        ("5", "exact", ("z",), None),
        ("6", "judge", ("z",), None),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "it is no JSON"),
        ("[]", "must be an object"),
        ('{"question": "q?"}', '"expected" must be a text, a list of texts, or a number'),
        ('{"question": " ", "expected": "x"}', '"question" must be a text'),
        ('{"question": "q?", "expected": []}', '"expected" must be'),
        ('{"question": "q?", "expected": true}', '"expected" must be'),
        ('{"question": "q?", "expected": NaN}', "NaN is no number"),
        ('{"question": "q?", "expected": "x", "check": "like"}', "must be one of exact, contains"),
        ('{"question": "q?", "expected": "x", "check": "number"}', '"expected" must be a number'),
        ('{"question": "q?", "expected": ["x", "y"], "check": "exact"}', "must be one text"),
        ('{"question": "q?", "expect": "x"}', "unknown key 'expect'"),
        ('{"question": "q?", "expected": "x", "hops": "2"}', '"hops" must be a whole number'),
        ('{"question": "q?", "expected": "x", "check": "judge"}', "name a model with --judge"),
        ('{"question": "' + "x" * 100_001 + '", "expected": "x"}', "more than 100,000 characters"),
        ("[" * 100_000, "it is"),
        ('{"question": "q?", "expected": "' + "x" * 1_000_000 + '"}', "more than 1,000,000 bytes"),
        ('{"question": "q?", "expected": ' + "9" * 5000 + "}", "more than 400 digits"),
        ('{"question": "q?", "expected": 1e-99999999}', '"expected" must be a finite number'),
    ],
)
def test_each_bad_line_is_one_sentence_with_its_number(
    line: str, reason: str, tmp_path: Path
) -> None:
    path = written(tmp_path, {"question": "q?", "expected": "x"}, line)
    with pytest.raises(QuestionsError) as caught:
        read_questions(path, judge=False)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{path} line 2: ")
    assert reason in problem


@pytest.mark.usefixtures("home")
def test_all_bad_lines_are_told_and_nothing_is_asked(tmp_path: Path) -> None:
    path = written(tmp_path, "{", {"question": "q?", "expected": "x"}, "[]")
    said = rungs("compare", path)
    assert said.code == 2
    assert [line.split(": ")[1] for line in said.err.splitlines()] == [
        f"{path} line 1",
        f"{path} line 3",
    ]
    assert said.out == ""
    assert list(Path.cwd().iterdir()) == []


def test_ids_that_come_twice_and_files_with_nothing_are_refused(tmp_path: Path) -> None:
    twice = {"question": "q?", "expected": "x", "id": "a"}
    with pytest.raises(QuestionsError, match="the id 'a' comes twice"):
        read_questions(written(tmp_path, twice, twice), judge=False)
    with pytest.raises(QuestionsError, match="holds no questions"):
        read_questions(written(tmp_path, ""), judge=False)
    with pytest.raises(QuestionsError, match="name a JSON Lines file, or essay or hops"):
        read_questions(str(tmp_path / "missing"), judge=False)


def test_a_file_that_holds_no_lines_of_text_is_one_sentence(tmp_path: Path) -> None:
    pipe, folder, binary = tmp_path / "pipe", tmp_path / "folder", tmp_path / "binary"
    os.mkfifo(pipe)
    folder.mkdir()
    binary.write_bytes(bytes(range(256)) * 20)
    (tmp_path / "list").write_text('[{"question": "q?",\n"expected": 1}]', encoding="utf-8")
    reasons = {
        pipe: "holds no questions",
        folder: "is a directory",
        binary: "holds no text in UTF-8",
        tmp_path / "list": "one object a line",
        Path("/dev/zero"): "is no file",
    }
    for path, reason in reasons.items():
        with pytest.raises(QuestionsError) as caught:
            read_questions(str(path), judge=False)
        (problem,) = caught.value.problems
        assert problem.startswith(str(path))
        assert reason in problem


def test_a_pipe_that_is_written_to_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)  # so that it is open before it is read
    os.write(writer, b'{"question": "q?", "expected": 1}\n')
    threading.Timer(0.05, os.close, (writer,)).start()
    assert len(read_questions(str(pipe), judge=False)) == 1


def test_windows_line_ends_and_a_byte_order_mark_are_read_over(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    line = b'{"question": "q?", "expected": 1}\r\n'
    path.write_bytes(b"\xef\xbb\xbf" + line + line)
    assert [question.text for question in read_questions(str(path), judge=False)] == ["q?"] * 2


# ---- checks


@pytest.mark.parametrize(
    ("expected", "how", "answer", "right"),
    [
        (("2-year", "globex"), "contains", "Globex gives a 2\u2011year warranty.", True),
        (("2-year",), "contains", "It is a 12-year warranty.", False),
        (("30",), "contains", "It costs 30.5.", False),
        (("30 days",), "contains", "within 30\n days", True),
        (("don't",), "contains", "They don\u2019t.", True),
        (("Yes.",), "exact", " Yes. ", True),
        (("Yes.",), "exact", "yes.", False),
        (Decimal(45), "number", "18% of $250 is 45.", True),
        (Decimal(45), "number", "It is 450 or 4.5", False),
        (Decimal(-3), "number", "\u22123 degrees", True),
        (Decimal("0.001"), "number", "1e-3", True),
    ],
)
def test_answers_are_checked_by_exact_contains_and_number(
    expected: Any, how: Any, answer: str, right: bool
) -> None:
    verdict = check(asked(expected=expected, how=how), answer)
    assert verdict.correct is right
    assert bool(verdict.why) is not right


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("From 1,000 to 2.5, E-4042, v1.2.3 and -7", ["1000", "2.5", "4042", "-7"]),
        ("1,200.50 or 1.200,50 or 1'200.50", ["1200.5"] * 3),
        ("1\u202f200 and 1\u00a0234\u00a0567", ["1200", "1234567"]),
        ("12 300 seats", ["12", "12300", "300"]),
        ("$45, -$45, EUR45, US$45.00 and 45,5 \u20ac", ["45", "-45", "45", "45", "45.5"]),
        ("18 % or 5 percent", ["18", "0.18", "5", "0.05"]),
        ("1/3 on 1/3/2024, 3-5", ["1/3", "1", "3", "2024", "3", "5"]),
        ("1,2,3", ["1", "2", "3"]),
        ("9" * 5000, []),
        ("1/0", ["1"]),
    ],
)
def test_the_numbers_of_an_answer_are_read_as_people_write_them(
    written: str, numbers: list[str]
) -> None:
    assert numbers_in(written) == [Fraction(number) for number in numbers]


@pytest.mark.parametrize(
    ("expected", "answer", "right"),
    [
        ("45", "It is $45.00", True),
        ("45", "It is 45.3", False),
        ("45", "45.5", False),
        ("45.0", "45.04", True),
        ("0.333", "It is 1/3.", True),
        ("0.333", "about 0.3333", True),
        ("0.333", "about 0.33", False),
        ("0.333", "0.334", False),
        ("0.50", "one half, 0.5", True),
        ("66.67", "66.666666666666667", True),
        ("1200.5", "1,200.50 dollars", True),
        ("0.18", "18 %", True),
        ("18", "18 %", True),
        ("18", "0.18", False),
        ("1e3", "1001", False),
        ("12300", "12 300 seats", True),
    ],
)
def test_a_number_is_compared_to_the_digits_that_are_expected_a_whole_one_exactly(
    expected: str, answer: str, right: bool, tmp_path: Path
) -> None:
    line = f'{{"question": "q?", "expected": {expected}}}'
    (question,) = read_questions(written(tmp_path, line), judge=False)
    verdict = check(question, answer)
    assert verdict.correct is right
    assert right or verdict.why == f"lacks the number {Decimal(expected)}"


@pytest.mark.parametrize(
    ("reply", "right"),
    [("yes: the same", True), ("**No** - it differs", False), ("Perhaps", None), ("", None)],
)
def test_a_judge_says_yes_or_no_and_anything_else_is_unknown(
    reply: str, right: bool | None
) -> None:
    model = ScriptedModel(replies=[{"text": reply}])
    verdict = Judge(model).check(asked(expected=("two years",), how="judge"), "24 months")
    assert verdict.correct is right
    (request,) = model.requests
    assert "two years" in str(request.messages[0].content)
    assert "24 months" in str(request.messages[0].content)
    if right is None:
        assert "gave no verdict" in verdict.why


def test_a_judge_that_fails_leaves_one_answer_unjudged() -> None:
    verdict = Judge(ScriptedModel(replies=[ValueError("out")])).check(asked(), "x")
    assert verdict.correct is None
    assert verdict.why == "the judge failed: ValueError: out"


# ---- prices


def test_an_unknown_price_is_unknown_and_a_known_one_is_counted(tmp_path: Path) -> None:
    price = Price(2.0, 10.0)
    assert cost(price, 1000, 100) == pytest.approx(0.003)
    assert cost(None, 1000, 100) is None
    assert cost(price, None, 100) is None
    assert cost(Price(0, 0), None, None) == 0.0
    assert read_prices(None)["offline"] == Price(0, 0)
    own = tmp_path / "p.toml"
    own.write_text('["my:model"]\ninput = 1\noutput = 2\n', encoding="utf-8")
    assert read_prices(str(own)) == {"my:model": Price(1.0, 2.0)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[x", "can't be read"),
        ("[x]\ninput = 1\n", "must have input and output"),
        ('[x]\ninput = "1"\noutput = 2\n', "input of"),
        ("[x]\ninput = -1\noutput = 2\n", "must be a number from 0 up"),
        ("[x]\ninput = nan\noutput = 2\n", "must be a number from 0 up"),
    ],
)
def test_a_bad_table_of_prices_is_one_line(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    with pytest.raises(PricesError, match=reason):
        read_prices(str(tmp_path / "p.toml"))


# ---- running


def comparing(
    journal: Path, questions: list[Question], replies: list[Any], fresh: bool = False
) -> tuple[list[Row], ScriptedModel]:
    model = ScriptedModel(replies=replies)
    with Journal(journal, fresh=fresh) as kept:
        stage = Stage(given={"m": model}, tools=[])
        comparison = Comparison(questions, [Contestant("one_call", "m")], stage, kept, {})
        return comparison.run(1), model


def many(count: int) -> list[Question]:
    return [Question(str(n), f"question {n}?", ("yes",), "contains") for n in range(count)]


def test_a_model_s_failure_on_one_question_is_a_row_not_the_end(tmp_path: Path) -> None:
    replies = [{"text": "yes"}, ValueError("it broke"), {"text": "no"}]
    rows, _ = comparing(tmp_path / "j", many(3), replies)
    assert [row["outcome"] for row in rows] == ["right", "failed", "wrong"]
    assert "it broke" in rows[1]["stop_reason"]


def test_a_run_that_raises_is_a_row_too(tmp_path: Path) -> None:
    rows, _ = comparing(tmp_path / "j", many(2), [{"text": "yes"}])  # the script ends
    assert [row["outcome"] for row in rows] == ["right", "failed"]
    assert rows[1]["status"] is None
    assert "ScriptExhausted" in rows[1]["stop_reason"]


def test_what_is_finished_is_not_asked_again(tmp_path: Path) -> None:
    first, _ = comparing(tmp_path / "j", many(2), [{"text": "yes"}, {"text": "no"}])
    again, model = comparing(tmp_path / "j", many(3), [{"text": "yes"}])
    assert len(model.requests) == 1
    assert again[:2] == first
    _, model = comparing(tmp_path / "j", many(1), [{"text": "yes"}], fresh=True)
    assert len(model.requests) == 1


def test_a_changed_question_is_asked_again(tmp_path: Path) -> None:
    comparing(tmp_path / "j", many(1), [{"text": "yes"}])
    changed = [Question("0", "question 0?", ("no",), "contains")]
    _, model = comparing(tmp_path / "j", changed, [{"text": "no"}])
    assert len(model.requests) == 1


def test_a_stop_keeps_what_was_finished_and_starts_no_more(tmp_path: Path) -> None:
    stopped = threading.Event()

    def stop(*_: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        stopped.wait(30)
        return {"text": "yes"}

    questions = many(40)
    with pytest.raises(StoppedError) as caught:
        comparing(tmp_path / "j", questions, [*[YES] * 3, stop, *[YES] * 40])
    stopped.set()
    assert (caught.value.finished, caught.value.total) == (3, 40)
    _, model = comparing(tmp_path / "j", questions, [{"text": "yes"}] * 40)
    assert len(model.requests) == 37


def test_a_line_that_was_cut_by_a_kill_is_the_only_one_lost(tmp_path: Path) -> None:
    comparing(tmp_path / "j", many(2), [{"text": "yes"}] * 2)
    with (tmp_path / "j").open("ab") as file:
        file.write(b'{"key": "x", "row": {"id": "9", "qu')
    rows, model = comparing(tmp_path / "j", many(3), [{"text": "yes"}])
    assert len(model.requests) == 1
    assert len(rows) == 3
    rows, model = comparing(tmp_path / "j", many(3), [])
    assert model.requests == []


def test_a_file_that_is_no_journal_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "j").write_text("mine", encoding="utf-8")
    with pytest.raises(JournalError, match="no list of finished rows"):
        Journal(tmp_path / "j", fresh=True)
    assert (tmp_path / "j").read_text(encoding="utf-8") == "mine"


def test_two_comparisons_never_write_to_one_journal(tmp_path: Path) -> None:
    with (
        Journal(tmp_path / "j"),
        pytest.raises(JournalError, match="another comparison is writing"),
    ):
        Journal(tmp_path / "j")


def test_a_comparison_changes_nothing_a_tool_that_would_is_left_out(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal:
        model = ScriptedModel(replies=[{"text": "yes"}])
        stage = Stage(given={"m": model})
        Comparison(many(1), [Contestant("tool_calling", "m")], stage, journal, {}).run(1)
    names = [schema["function"]["name"] for schema in model.requests[0].tool_schemas]
    assert "get_order" in names
    assert not {"issue_refund", "delete_customer", "save_note"} & set(names)


# ---- what the rows come to


def row(identity: str, graph: str, right: bool | None, **given: Any) -> Row:
    outcome: Any = {True: "right", False: "wrong", None: "not judged"}[right]
    made = Row(
        id=identity, question="q?", hops=1, graph=graph, model="m", answer="a", status="answered",
        stop_reason="", correct=right, outcome=outcome, why="", model_calls=2, tool_calls=1,
        input_tokens=1000, output_tokens=100, seconds=0.5,
    )  # fmt: skip
    made.update(given)  # type: ignore[typeddict-item]
    return made


def test_the_lowest_rung_that_answers_is_named_for_each_question() -> None:
    rows = [
        row("1", "low", True),
        row("1", "high", True),
        row("2", "low", False),
        row("2", "high", True),
        row("3", "low", None),
        row("3", "high", False),
        row("4", "low", None),
        row("4", "high", True),
        row("5", "low", False),
        row("5", "high", False),
    ]
    assert lowest(rows[:4]) == {"m": {"1": "low", "2": "high"}}
    assert lowest(rows) == {
        "m": {"1": "low", "2": "high", "3": "not judged", "4": "not judged", "5": "none"}
    }
    assert lowest_counts(rows) == {"m": {"low": 1, "high": 1, "not judged": 2, "none": 1}}


def test_a_line_adds_up_what_is_known_and_says_what_is_not() -> None:
    rows = [row("1", "g", True), row("2", "g", None), row("3", "g", False, input_tokens=None)]
    (line,) = summarize(rows, {"m": Price(1.0, 1.0)})
    assert (line["right"], line["judged"], line["accuracy"]) == (1, 2, 0.5)
    assert line["tokens"] is None
    assert line["dollars"] is None
    (line,) = summarize(rows[:2], {"m": Price(1.0, 1.0)})
    assert line["tokens"] == 1100
    assert line["dollars"] == pytest.approx(0.0011)
    assert summarize(rows[:2], {})[0]["dollars"] is None


# ---- the command


@pytest.mark.usefixtures("home")
def test_the_essay_is_compared_as_the_essay_tells() -> None:
    said = rungs("compare", "essay", "--json")
    assert said.code == 0
    outcomes = {(row["id"], row["graph"]): row["outcome"] for row in said.json["rows"]}
    assert [outcomes["sum", g] for g in ("one_call", "full_agent")] == ["right", "right"]
    assert outcomes["earbuds", "one_call"] == "incomplete"
    assert outcomes["earbuds", "fixed_workflow"] == outcomes["earbuds", "full_agent"] == "right"
    assert said.json["lowest"] == {"offline": {"one_call": 4, "fixed_workflow": 1}}
    told = rungs("compare", "essay")  # what was finished is not asked again
    assert "15 of 15 rows were finished before" in told.out
    assert re.search(r"one_call +4 of 5 +80 % +2\.0 .* unknown .* \$0", told.out)
    assert "lowest rung that answers, offline: one_call 4, fixed_workflow 1" in told.out
    assert "one_call fails: incomplete 1" in told.out
    page = Path("compare.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 5
    assert "earbuds made by the company" in page


def test_tokens_and_prices_are_told_where_they_are_known(home: Path) -> None:
    model = scripted(home, [{"text": "yes", "usage": USAGE}])
    (home / "p.toml").write_text(f'["{model}"]\ninput = 2\noutput = 10\n', encoding="utf-8")
    path = written(home, {"question": "q?", "expected": "yes"})
    both = ["-g", "one_call", "-m", f"{model},offline"]
    said = rungs("compare", path, *both, "--prices", str(home / "p.toml"))
    assert said.code == 0
    first, second = (
        line for line in said.out.splitlines() if line.startswith("one_call ·") and " of " in line
    )
    assert "1,100" in first
    assert first.endswith("$0.003")
    assert second.endswith("unknown")


def test_a_judge_is_asked_where_the_check_says_so(home: Path) -> None:
    answers = scripted(home, [{"text": "24 months"}])
    judge = scripted(home, [{"text": "yes: same"}])
    path = written(home, {"question": "q?", "expected": "two years", "check": "judge"})
    said = rungs("compare", path, "-g", "one_call", "-m", answers, "--judge", judge, "--json")
    assert [row["outcome"] for row in said.json["rows"]] == ["right"]
    judge = scripted(home, [{"error": "out"}] * 3)
    said = rungs("compare", path, "-g", "one_call", "-m", answers, "--judge", judge, "--json")
    (judged,) = said.json["rows"]
    assert (judged["outcome"], judged["correct"]) == ("not judged", None)
    assert "the judge failed" in judged["why"]
    assert said.code == 0


def test_what_went_unjudged_is_told_as_that_and_not_as_a_failure(home: Path) -> None:
    answers = scripted(home, [{"text": "24 months"}])
    judge = scripted(home, [{"text": "Perhaps."}])
    path = written(home, {"question": "q?", "expected": "two", "check": "judge", "hops": 1})
    command = ("compare", path, "-g", "one_call", "-m", answers, "--judge", judge)
    said = rungs(*command)
    assert said.code == 0
    assert re.search(r"one_call +0 of 0 +not judged ", said.out)
    assert f"lowest rung that answers, {answers}: not judged 1" in said.out
    assert "one_call was not judged: 1" in said.out
    assert "fails" not in said.out
    assert "none" not in said.out
    page = Path("compare.html").read_text(encoding="utf-8")
    assert "</b>: not judged 1</p>" in page
    assert '<span class="badge o-not-judged">not judged</span>' in page
    assert "one_call, 1 hop: not judged" in page
    assert "unknown" not in re.sub("<td>unknown</td>", "", page.split("<body>")[1].split("<svg")[0])
    told = rungs(*command, "--json").json
    assert told["lowest"] == {answers: {"not judged": 1}}
    (line,) = told["summary"]
    assert (line["accuracy"], line["outcomes"]) == (None, {"not judged": 1})
    assert line["by_hops"] == {"1": [0, 0]}


def test_of_what_went_unjudged_the_judge_alone_is_asked_again(home: Path) -> None:
    answers, judge = home / "a.json", home / "j.json"
    path = written(home, {"question": "q?", "expected": "two", "check": "judge"})
    command = ["compare", path, "-g", "one_call", "-m", f"scripted:{answers}"]
    command += ["--judge", f"scripted:{judge}", "--json"]
    answers.write_text('["24 months"]', encoding="utf-8")
    judge.write_text('["Perhaps."]', encoding="utf-8")
    assert rungs(*command).json["rows"][0]["outcome"] == "not judged"
    answers.write_text("[]", encoding="utf-8")
    judge.write_text('["yes: the same"]', encoding="utf-8")
    (row,) = rungs(*command).json["rows"]
    assert (row["outcome"], row["answer"], row["why"]) == ("right", "24 months", "judge: the same")


def test_another_judge_is_asked_about_the_answers_that_are_judged_alone(home: Path) -> None:
    kept = home / "j"
    questions = [asked("a?", how="contains"), Question("2", "b?", ("yes",), "judge")]
    for name, replies in (("one", [YES, YES]), ("two", [YES])):
        model = ScriptedModel(replies=list(replies))
        stage = Stage(given={"m": model}, tools=[], judge=Judge(ScriptedModel(replies=[YES])))
        with Journal(kept) as journal:
            contestants = [Contestant("one_call", "m")]
            Comparison(questions, contestants, stage, journal, {}, judge=name).run(1)
        assert len(model.requests) == len(replies)


def test_a_graph_that_makes_records_is_told_to_answer_no_questions(home: Path) -> None:
    path = written(home, {"question": "What is 2 + 2?", "expected": 4})
    said = rungs("compare", path, "-g", "forced_output,one_call")
    assert "forced_output does not answer questions, it makes records: rejected 1" in said.out
    assert "forced_output fails" not in said.out
    assert re.search(r"forced_output +0 of 1 +no answers ", said.out)
    page = Path("compare.html").read_text(encoding="utf-8")
    assert "forced_output does not answer questions" in page
    accuracy = page.split("Accuracy against tokens</h2>")[1].split("</svg>")[0]
    assert "one_call" in accuracy
    assert "forced_output" not in accuracy
    told = rungs("compare", path, "-g", "forced_output,one_call", "--json").json
    assert [line["answers"] for line in told["summary"]] == [False, True]


def test_rows_that_can_not_be_written_end_it_in_one_line_and_lose_none_before(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(home, *({"question": f"What is {n} + 1?", "expected": n + 1} for n in range(9)))
    command = ("compare", path, "-g", "one_call", "-j", "1")
    add, added = Journal.add, []

    def full(journal: Journal, key: str, row: Row) -> None:
        added.append(key)
        if len(added) == 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        add(journal, key, row)

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "add", full)
        said = rungs(*command)
    assert said.code == 1
    assert "compare.html.rows.jsonl can't be written: No space left on device; 3 of 9 rows" in (
        said.error
    )
    assert "the same command goes on" in said.error
    said = rungs(*command)
    assert said.code == 0
    assert "3 of 9 rows were finished before" in said.out


def test_a_row_that_fits_half_leaves_nothing_of_it(tmp_path: Path) -> None:
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    comparing(tmp_path / "j", many(1), [YES])
    size = (tmp_path / "j").stat().st_size
    with Journal(tmp_path / "j") as journal:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, limit[1]))
            with pytest.raises(OSError, match="File too large"):
                journal.add("k", row("1", "g", True))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        assert (tmp_path / "j").stat().st_size == size
        journal.add("k", row("1", "g", True))
    with Journal(tmp_path / "j") as journal:
        assert len(journal.rows) == 2


def test_a_report_that_can_not_be_written_keeps_the_rows(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(home, {"question": "What is 2 + 2?", "expected": 4})

    def full(**_: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("graphs.compare.page.tempfile.mkstemp", full)
        said = rungs("compare", path, "-g", "one_call")
    assert said.code == 1
    assert "compare.html can't be written: No space left on device; the 1 finished" in said.error
    assert "1 of 1 rows were finished before" in rungs("compare", path, "-g", "one_call").out


def test_when_every_run_failed_the_command_has_failed(home: Path) -> None:
    model = scripted(home, [{"error": "out"}] * 3)
    path = written(home, {"question": "q?", "expected": "x"})
    said = rungs("compare", path, "-g", "one_call", "-m", model, "--json")
    assert said.code == 1
    assert said.json["rows"][0]["outcome"] == "failed"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["-g", "one_cal"], "there is no graph 'one_cal': name some of tools_in_context"),
        (["-m", "nosuch:model"], "nosuch"),
        (["--prices", "missing.toml"], "missing.toml can't be read"),
        (["-o", "no/such/folder/r.html"], "there is no folder"),
        (["--tools", "missing.toml"], "missing.toml"),
        (["--docs", "missing"], "missing"),
    ],
)
def test_what_can_not_be_used_is_told_in_one_line_before_anything_is_asked(
    options: list[str], reason: str
) -> None:
    said = rungs("compare", "essay", *options)
    assert said.code == 2
    assert reason in said.error
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.usefixtures("home")
def test_every_graph_there_is_can_be_compared() -> None:
    said = rungs("compare", "essay", "-g", "all", "--json")
    assert said.code == 0
    from graphs import GRAPHS

    assert [line["graph"] for line in said.json["summary"]] == list(GRAPHS)
    assert all(row["outcome"] != "failed" for row in said.json["rows"])


@pytest.mark.crash
def test_killed_and_started_again_it_repeats_nothing_that_was_finished(home: Path) -> None:
    command, env = sums(home, 30)
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    kept = Path("compare.html.rows.jsonl")
    deadline = time.monotonic() + LONGEST
    while not kept.exists() or kept.read_bytes().count(b"\n") < 6:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.communicate()
    before = rows_of(Path.cwd())[:5]
    assert not Path("compare.html").exists()
    said = finished(command, env)
    assert said.code == 0, said.err
    match = re.search(r"(\d+) of 30 rows were finished before", said.out)
    assert match
    assert int(match[1]) >= 5
    after = rows_of(Path.cwd())
    assert after[:5] == before
    assert len(after) == len({row["id"] for row in after}) == 30


@pytest.mark.processes
def test_ctrl_c_ends_with_130_and_says_how_to_go_on(home: Path) -> None:
    command, env = sums(home, 30)
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    kept = Path("compare.html.rows.jsonl")
    deadline = time.monotonic() + LONGEST
    while not kept.exists() or kept.read_bytes().count(b"\n") < 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LONGEST)
    assert process.returncode == 130, err
    assert b"rows are finished and kept; the same command goes on" in err
    assert b"Traceback" not in err
    assert rows_of(Path.cwd())


def sums(home: Path, count: int) -> tuple[list[str], dict[str, str]]:
    """Return the command that compares some sums, one after another, and its environment."""
    lines = ({"question": f"What is {n} + 1?", "expected": n + 1} for n in range(count))
    path = written(home, *lines)
    command = [sys.executable, "-m", "graphs.cli", "compare", path, "-g", "one_call", "-j", "1"]
    return command, {**os.environ, "PYTHONPATH": str(ROOT)}


def finished(command: list[str], env: dict[str, str]) -> Said:
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return Said(done.returncode, done.stdout, done.stderr)


def test_the_questions_that_the_readme_shows_can_be_read(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    found = read_questions(written(tmp_path, *block.splitlines()), judge=True)
    assert [question.check for question in found] == ["number", "contains", "exact", "judge"]


EARBUDS = "What is the warranty on the wireless earbuds made by the company that acquired Acme?"


def test_an_answer_that_calls_itself_incomplete_is_not_right_whatever_it_holds(home: Path) -> None:
    file = home / "q.jsonl"
    file.write_text(json.dumps({"question": EARBUDS, "expected": "Globex"}), encoding="utf-8")
    report = str(home / "r.html")
    said = rungs("compare", str(file), "--graphs", "one_call", "--report", report, "--json")
    assert [row["outcome"] for row in said.json["rows"]] == ["incomplete"]
    assert [row["correct"] for row in said.json["rows"]] == [False]


@pytest.mark.parametrize("name", ["q.jsonl", "notes.txt", "mine.html", "folder.html"])
def test_a_report_takes_the_place_of_nothing_but_a_report(home: Path, name: str) -> None:
    questions = home / "q.jsonl"
    questions.write_text('{"question": "What is 2 + 2?", "expected": 4}', encoding="utf-8")
    target = home / name
    if name == "folder.html":
        target.mkdir()
    elif name != "q.jsonl":
        target.write_text("mine", encoding="utf-8")
    before = None if target.is_dir() else target.read_bytes()
    said = rungs("compare", str(questions), "--graphs", "one_call", "--report", str(target))
    assert said.code == 2
    assert "no report of a comparison" in said.error
    assert target.is_dir() or target.read_bytes() == before
    report = str(home / "report.html")
    for _ in range(2):
        assert rungs("compare", str(questions), "-g", "one_call", "--report", report).code == 0


def test_what_failed_is_asked_again_and_what_was_answered_is_not(home: Path) -> None:
    questions = home / "q.jsonl"
    questions.write_text('{"question": "What is 2 + 2?", "expected": 4}', encoding="utf-8")
    script = home / "m.json"
    command = ["compare", str(questions), "-g", "one_call", "-m", f"scripted:{script}"]
    command += ["--report", str(home / "r.html"), "--json"]
    for replies, outcome in (([], "failed"), (["4"], "right"), (["5"], "right")):
        script.write_text(json.dumps(replies), encoding="utf-8")
        assert [row["outcome"] for row in rungs(*command).json["rows"]] == [outcome]


def test_an_infinite_number_is_no_expected_answer(home: Path) -> None:
    questions = home / "q.jsonl"
    questions.write_text('{"question": "What is 2 + 2?", "expected": 1e400}', encoding="utf-8")
    said = rungs("compare", str(questions), "-g", "one_call", "--report", str(home / "r.html"))
    assert said.code == 2
    assert "finite" in said.err


@pytest.mark.parametrize("said", ["yes and no", "Yes or no?"])
def test_a_judge_that_says_both_gives_no_verdict(said: str) -> None:
    judge = Judge(ScriptedModel(replies=[said]))
    question = Question(id="q", text="?", expected=("x",), check="judge", hops=None)
    assert judge.check(question, "x").correct is None
