"""How the tokens of a request are counted, and said which way."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from graphs.errors import UsageError
from graphs.react import counting
from graphs.react.counting import Count, count
from graphs.react.identifiers import MOST, Seen, missing_from
from graphs.react.summary_parts import Parts, parts_of
from graphs.react.turns import Turn
from graphs.react.views import observation
from graphs.token_estimate import PER_MESSAGE

SENT: list[BaseMessage] = [SystemMessage("rules"), HumanMessage("question")]
BYTES = tiktoken.Encoding(
    name="bytes",
    pat_str=r"(?s:.)",
    mergeable_ranks={bytes([n]): n for n in range(256)},
    special_tokens={},
)


def reply(sent: int, received: int, thought: int = 0) -> AIMessage:
    usage: Any = {"input_tokens": sent, "output_tokens": received, "total_tokens": sent + received}
    if thought:
        usage["output_token_details"] = {"reasoning": thought}
    return AIMessage("Action: f[1]", usage_metadata=usage)


def test_the_callers_counter_decides() -> None:
    got: list[Any] = []

    def counter(messages: list[BaseMessage]) -> int:
        got.append(messages)
        return 42

    assert count(SENT, counter=counter, answered=(1, reply(5, 5))) == Count(42, "token_counter")
    assert got == [SENT]


def test_without_anything_it_is_an_estimate_that_is_not_low_for_any_script() -> None:
    plain = count([HumanMessage("word " * 700)])
    chinese = count([HumanMessage("\u65e5\u672c" * 350)])
    assert (plain.by, plain.tokens) == ("estimate", 1004)
    assert chinese.tokens > 500


def test_a_model_that_told_its_usage_is_believed_and_the_rest_is_added() -> None:
    request = [*SENT, AIMessage("Action: f[1]"), HumanMessage("Observation: " + "x" * 337)]
    assert count(request, answered=(1, reply(1000, 50))) == Count(1050 + 104, "usage")
    assert count(request, answered=(1, reply(1000, 50, thought=40))) == Count(1010 + 104, "usage")
    unknown = AIMessage("Action: f[1]")
    assert count(request, answered=(1, unknown)).by == "estimate"


def test_a_usage_too_small_to_be_true_is_not_believed() -> None:
    request = [SystemMessage("word " * 3000), AIMessage("Action: f[1]"), HumanMessage("Obs")]
    whole = count(request)
    assert (whole.by, whole.tokens > 4000) == ("estimate", True)
    assert count(request, answered=(1, reply(10, 1))) == whole
    assert count(request, answered=(1, reply(2000, 1))).by == "usage"


@pytest.mark.parametrize("told", [None, "many", -5, float("nan"), float("inf"), [1]])
def test_a_counter_that_returns_no_number_is_the_callers_mistake(told: Any) -> None:
    with pytest.raises(UsageError, match="token_counter must return a number"):
        count(SENT, counter=lambda _: told)


def test_tiktoken_counts_for_a_model_whose_table_is_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counting._encoding.cache_clear()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: BYTES)
    assert count(SENT, model="gpt-4o").by == "estimate"  # nothing is downloaded in a run
    table = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    (tmp_path / hashlib.sha1(table.encode(), usedforsecurity=False).hexdigest()).touch()
    counting._encoding.cache_clear()
    expected = len("rules") + len("question") + 2 * PER_MESSAGE
    assert count(SENT, model="gpt-4o") == Count(expected, "tiktoken")
    assert count(SENT, model="qwen").by == "estimate"
    counting._encoding.cache_clear()


# ---- what a summary must not lose


def test_what_a_summary_lacks_is_listed_once_in_order() -> None:
    text = (
        "Order [ORD-4711] and ORD-4711 of 2024-06-03, mail ann@x.example, get_order(77), "
        "https://x.example/a?b=1, /var/log/a.txt, src/main.py, and/or, a_b, one 7 word. "
        "\n> [\u2026 5,000 characters in all, the middle left out \u2026]\n"
    )
    assert missing_from("All about 2024-06-03.", text).line == (
        "Also seen: ORD-4711, ann@x.example, get_order, 77, https://x.example/a?b=1, "
        "/var/log/a.txt, src/main.py"
    )


def test_nothing_is_added_where_nothing_is_missing() -> None:
    assert missing_from("it is 4711", "the number 4711, and words").line == ""


def test_the_list_is_bounded_and_says_how_much_it_left_out() -> None:
    line = missing_from("", " ".join(f"ID-{number:04d}" for number in range(500))).line
    assert len(line) <= MOST
    listed = line.count("ID-")
    assert line.endswith(f"({500 - listed} more left out)")
    assert missing_from("", "1" * 5000).line == "Also seen: (1 more left out)"


def test_old_and_new_share_the_room_and_the_newest_of_each_stay() -> None:
    parts = Parts("")
    for turn in range(20):
        new = " ".join(f"T{turn:02d}-{number:04d}" for number in range(300))
        parts = parts_of(parts.followed_by("", new).text)
        assert len(parts.seen.line) <= MOST
        assert len(parts.seen.words) + parts.seen.left_out == 300 * (turn + 1)
        fresh = sum(word.startswith(f"T{turn:02d}-") for word in parts.seen.words)
        assert fresh > 30
        assert turn == 0 or len(parts.seen.words) - fresh > 30
        assert f"T{turn:02d}-0299" in parts.seen.words


def test_a_short_new_turn_pushes_out_no_more_than_it_needs() -> None:
    full = Parts("").followed_by("", " ".join(f"ID-{number:04d}" for number in range(500)))
    more = full.followed_by("", "NEW-10")
    assert more.seen.words[-1] == "NEW-10"
    assert len(more.seen.words) >= len(full.seen.words) - 1


def test_what_a_summary_copied_of_the_list_is_listed_once_and_its_count_is_not_added() -> None:
    before = Parts("About A-100.", 3, Seen(("B-200", "C-300"), 56))
    copied = f"About A-100 and C-300.\n> {before.text.splitlines()[1]}\n- {before.seen.line}"
    after = before.followed_by(copied, "then D-400")
    assert after.text == (
        "About A-100 and C-300.\n(3 turns dropped without a summary)\n"
        "Also seen: B-200, D-400 (56 more left out)"
    )
    assert parts_of(after.text) == after
    said = "Also seen: that the 2 customers are angry, and (56 more left out)"
    assert before.followed_by(said, "").said == said
    assert "56" not in Parts(said).followed_by("", "").seen.words


# ---- an Observation in the room it has


@pytest.mark.parametrize("most", [100, 200, 400, 2_000])
@pytest.mark.parametrize(
    "text",
    [
        "\n".join(str(number % 10) for number in range(1_200)),
        "a\n" * 5_000,
        "\n" * 5_000,
        "\n".join(f"row {number}" for number in range(3_000)),
        "".join(f"{number}\r\n" for number in range(3_000)),
    ],
)
def test_many_short_lines_are_shown_with_head_and_tail_as_far_as_they_fit(
    text: str, most: int
) -> None:
    turn = Turn(AIMessage("Action: f[1]"), ToolMessage(text, tool_call_id="1"))
    shown = observation(turn, most)
    assert most - 40 <= len(shown) <= most
    head, marker, tail = shown.partition(f"> [\u2026 {len(text):,} characters in all")
    assert marker
    assert len(head) > 10
    assert len(tail.partition("\u2026]")[2]) > 10
    first, *others = shown.split("\n")
    assert first == text.splitlines()[0]
    assert all(line.startswith(">") for line in others)


def test_lines_that_fit_until_they_are_quoted_lose_their_middle_alone() -> None:
    text = "\n".join(str(number % 10) for number in range(900))
    turn = Turn(AIMessage("Action: f[1]"), ToolMessage(text, tool_call_id="1"))
    assert observation(turn, 4_000) == text.replace("\n", "\n> ")
    assert len(observation(turn, 2_000)) > 1_960
