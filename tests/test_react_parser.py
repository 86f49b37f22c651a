"""The ReAct parser: an action, a final answer or a format error, whatever a model sends."""

# ruff: noqa: RUF001 - full-width colons and curly quotes are what is tested
import importlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.react import keywords, parser, thinking
from graphs.react.keywords import behind_keyword, keyword_of, quoted
from graphs.react.parser import Action, FinalAnswer, FormatError, parse


def acted(text: str) -> tuple[str, str]:
    """Return the name and the input of the action that a text is."""
    parsed = parse(text)
    assert isinstance(parsed, Action), parsed
    return parsed.name, parsed.text


def answered(text: str) -> str:
    parsed = parse(text)
    assert isinstance(parsed, FinalAnswer), parsed
    return parsed.text


def refused(text: str) -> str:
    parsed = parse(text)
    assert isinstance(parsed, FormatError), parsed
    return parsed.reason


# ---- what counts


@pytest.mark.parametrize(
    ("text", "name", "given_input"),
    [
        ("Action: search[Eiffel Tower]", "search", "Eiffel Tower"),
        ("Thought: I look.\nAction: search[a]", "search", "a"),
        ("action: search[red]", "search", "red"),
        ("Action : search [red]", "search", "red"),
        ("  ACTION: search[red]", "search", "red"),
        ("**Action 2:** search[red]", "search", "red"),
        ("**Action**: search[red]", "search", "red"),
        ("**Action: search[red]**", "search", "red"),
        ("### Action: search[red]", "search", "red"),
        ("_Action 12_: search[red]", "search", "red"),
        ("Action: `search[red]`", "search", "red"),
        ("Action:\nsearch[red]", "search", "red"),
        ("思考：查价格\nAction：search[红鞋]", "search", "红鞋"),
        ("Action: lookup[rows[0].price in [a, b]]", "lookup", "rows[0].price in [a, b]"),
        ("Action: note[line one\nline two\n]", "note", "line one\nline two"),
        ("```\nThought: check\nAction: search[red]\n```", "search", "red"),
        ("```text\nAction: search[red]\n```", "search", "red"),
        ('Action: search["red shoes"]', "search", "red shoes"),
        ("Action: search['red shoes']", "search", "red shoes"),
        ("Action: search[“red shoes”]", "search", "red shoes"),
        ('Action: say["a" and "b"]', "say", '"a" and "b"'),
        ('Action: find["a ] b"]', "find", "a ] b"),
        ('Action: find[{"q": "a ] b"}] now', "find", '{"q": "a ] b"}'),
        ("Action: find[{not json}]", "find", "{not json}"),
        ("Action: update_notes['[x] A [ ] B']", "update_notes", "[x] A [ ] B"),
        ("Action: today[]", "today", ""),
        ('Action: find[""]', "find", ""),
        ("Action: search\nAction Input: red", "search", "red"),
        ('Action: search\n\nAction Input: "red"\nThought: then', "search", "red"),
        ('Action: f\nAction Input: {"a":\n 1}\nObservation: 2', "f", '{"a":\n 1}'),
        ("Action: web-search[a]", "web-search", "a"),
        ("Action: crm.find[b]", "crm.find", "b"),
        ("Action: größe[c]", "größe", "c"),
        ("Action: find_all[d]", "find_all", "d"),
    ],
)
def test_an_action_is_a_name_and_its_input(text: str, name: str, given_input: str) -> None:
    """Cases REA-03, 05, 07, 09, 11, 25 and 31."""
    assert acted(text) == (name, given_input)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Final Answer: 48", "48"),
        ("final answer: 7", "7"),
        ("FINAL ANSWER: 7", "7"),
        ("Final Answer：7", "7"),
        ("**Final Answer:** 7", "7"),
        ("I worked it out.\nFinal Answer: 8", "8"),
        ("Thought: I now have enough information.\nFinal Answer:\n\n8\n", "8"),
        ("```\nFinal Answer: 7\n```", "7"),
        ("Final Answer: use\n```\ncode\n```", "use\n```\ncode\n```"),
        ("Final Answer: 3\nObservation: forged", "3"),
        ("Final Answer: <think> is a tag", "<think> is a tag"),
    ],
)
def test_a_final_answer_is_all_that_follows_it(text: str, answer: str) -> None:
    """Cases REA-07, 09, 11 and 13."""
    assert answered(text) == answer


def test_an_answer_may_hold_lines_that_look_like_keywords() -> None:
    """Case REA-27."""
    answer = "Plan\n\nAction items:\n- Action: call Ann[tomorrow]\nThought for the day: rest"
    assert answered(f"Thought: done\nFinal Answer: {answer}") == answer
    assert answered("Final Answer: see\nAction: wipe[all]") == "see\nAction: wipe[all]"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", parser.EMPTY),
        (" \n\n\t", parser.EMPTY),
        ("<think>Action: wipe[all]", parser.EMPTY),
        ("Thought: hmm, I should", parser.NO_KEYWORD),
        ("I would use Action: search[red]", parser.NO_KEYWORD),
        ("> Action: search[red]", parser.NO_KEYWORD),
        ("- Final Answer: 7", parser.NO_KEYWORD),
        ("动作：search[红]", parser.NO_KEYWORD),
        ("Action: search[red", parser.NOT_CLOSED),
        ("Action: search[red\nObservation: blue]", parser.NOT_CLOSED),
        ("Action: search", parser.NO_INPUT),
        ("Action:", parser.NO_INPUT),
        ("Action: search(red)", parser.NO_INPUT),
        ("Action:\nAction: search[red]", parser.NO_INPUT),
        ("Observation: 9\nFinal Answer: 9", parser.OWN_OBSERVATION),
        ("Final Answer:", parser.NO_ANSWER),
    ],
)
def test_anything_else_is_a_format_error_that_says_what_is_wrong(text: str, why: str) -> None:
    assert refused(text) == why


def test_the_first_keyword_wins_and_what_follows_is_cut() -> None:
    """Cases REA-01 and REA-15."""
    first = "Thought: compare both\nAction: price[red]"
    for rest in ("\nAction: price[blue]", "\nFinal Answer: 3", "\nObservation: 9\nAction: g[2]"):
        parsed = parse(first + rest)
        assert parsed == Action("price", "red", first)


@pytest.mark.parametrize(
    "text",
    [
        "<think>Maybe Final Answer: 9? or Action: wipe[all]</think>\nAction: search[red]",
        "<think>\nFinal Answer: 9\n</think>Action: search[red]",
        "Action: wipe[all]\n</think>\nAction: search[red]",
        "Thought: so\n<thinking>\nAction: wipe[all]\n</thinking>\nAction: search[red]",
        "<think>a</think><think>\nAction: wipe[all]</think>\nAction: search[red]",
    ],
)
def test_thinking_is_neither_parsed_nor_kept(text: str) -> None:
    """Case REA-19."""
    parsed = parse(text)
    assert isinstance(parsed, Action)
    assert (parsed.name, parsed.text) == ("search", "red")
    assert "wipe" not in parsed.said
    assert "<" not in parsed.said


# ---- whatever comes

PIECES = st.sampled_from(
    [
        *("Action", "Final Answer", "Observation", "Thought", "Action Input", "action 2"),
        *(":", "：", "\n", "\r\n", "\u2028", "\x85", "[", "]", '"', "'", "**", "```\n", "#", "> "),
        *("{", "}", '{"a": "]"}', "\\", " ", "search", "<think>", "</think>", "x", "é", "\ud800"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=60).map("".join)


@given(TEXTS)
def test_any_text_is_an_action_a_final_answer_or_a_format_error(text: str) -> None:
    parsed = parse(text)
    assert isinstance(parsed, Action | FinalAnswer | FormatError)
    if isinstance(parsed, Action):
        assert parsed.text in parsed.said
    if isinstance(parsed, FinalAnswer):
        assert parsed.text
        assert parsed.said.endswith(parsed.text)
    # What is recorded is read as what it was when it came.
    again = parse(parsed.said)
    if isinstance(parsed, Action) and "<" not in text and "```" not in text:
        assert isinstance(again, Action)
        assert (again.name, again.text) == (parsed.name, parsed.text)


@given(TEXTS, TEXTS)
def test_no_observation_is_ever_read_as_an_action_or_an_answer(thought: str, result: str) -> None:
    """Cases INJ-01 and CMP-13: alone, in the transcript, or repeated by the model behind a text."""
    shown = f"Observation: {behind_keyword(result)}"
    assert isinstance(parse(shown), FormatError)
    assert all(keyword_of(line) is None for line in shown.splitlines()[1:])
    assert all(keyword_of(line) is None for line in quoted(result).splitlines())
    if isinstance(parse(thought), FormatError) and "<" not in thought + result:
        assert isinstance(parse(f"{thought}\n{shown}"), FormatError)
        assert isinstance(parse(f"Thought: so\n{quoted(result)}"), FormatError)


@given(TEXTS)
def test_a_quoted_text_keeps_every_word(text: str) -> None:
    said = [line.removeprefix(">").removeprefix(" ") for line in quoted(text).splitlines()]
    assert said == [line.rstrip() for line in text.splitlines()]


# ---- linear time

HOSTILE = [
    *("[", "]", "[]", "{", "<think>", "</think>", "<think></think>", '"', '"\\', "'a'", "*", "#"),
    *("Action: f[", "Action: f\n", "Action Input: ", "Observation", "\n", " ", "\t \n", "```\n"),
    *("Final Answer", "Final Answer:", "Thought: \n", "_" * 4, "1", "“", "{[", '{"a":'),
]
HEADS = [
    "",
    "Action: f[",
    "Action: f[{",
    'Action: f["',
    "Action: f\nAction Input: ",
    "Final Answer:",
]


@pytest.mark.parametrize("module", [keywords, parser, thinking])
def test_no_pattern_can_go_back_over_a_long_text(module: Any) -> None:
    """Each quantifier is bounded or possessive: a match costs what it reads, once."""
    values = list(vars(module).values())
    values += [value for table in values if isinstance(table, dict) for value in table.values()]
    patterns = [value for value in values if isinstance(value, re.Pattern)]
    assert patterns
    assert list(unbounded(SRE.parse("(a|b*)c")))
    for pattern in patterns:
        assert not list(unbounded(SRE.parse(pattern.pattern))), pattern.pattern


SRE: Any = importlib.import_module("re._parser")


def unbounded(parsed: Any) -> Iterator[Any]:
    """Find the repeats that have no bound and may be given back."""
    for operation, value in parsed:
        if operation in {SRE.MAX_REPEAT, SRE.MIN_REPEAT} and value[1] is SRE.MAXREPEAT:
            yield value
        for part in value if isinstance(value, tuple | list) else [value]:
            if isinstance(part, SRE.SubPattern):
                yield from unbounded(part)
            elif isinstance(part, list):
                for branch in part:
                    if isinstance(branch, SRE.SubPattern):
                        yield from unbounded(branch)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_text_of_twice_the_length_takes_twice_the_steps(
    head: str, piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps are characters looked at for keywords and brackets; no line is looked at thrice."""
    looked = [0]

    def counting(line: str) -> Any:
        looked[0] += len(line) + 1
        return keyword_of(line)

    monkeypatch.setattr(parser, "keyword_of", counting)
    monkeypatch.setattr(thinking, "keyword_of", counting)
    steps = []
    for length in (500, 1000):
        text = head + piece * length
        looked[0] = 0
        parse(text)
        steps.append(looked[0])
        assert looked[0] <= 4 * (len(text) + 1)
    assert steps[1] <= 2 * steps[0] + 100
