"""Redaction of text that comes in pieces: nothing of a match is let go, and nothing is lost."""

import dataclasses
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tools.held_back import HeldBack
from tools.redact import Filter, in_force, redact
from tools.redaction_policy import RedactionPolicy
from tools.redactor import Redactor, redactor_for

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nq83v\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
POLICY = RedactionPolicy(
    fields=frozenset({"date_of_birth"}),
    patterns=(
        ("ssn", r"\b\d{3}-\d{2}-\d{4}\b"),
        ("domain", r"\bacme\.example\b"),
        ("case", "CASE <.*>"),
    ),
    allow=("*@globex.test",),
)
FILTER = Filter(redactor_for(POLICY), lambda: {"ann@mail.example"})


def streamed(chunks: list[str], filter_: Filter = FILTER) -> list[str]:
    held = HeldBack(filter_=filter_)
    out = [held.push(chunk) for chunk in chunks]
    return [*out, held.flush()]


pieces = st.sampled_from(
    [
        *("password", "token", "key", "api_key", "Authorization", "Cookie", "secret", "max_tokens"),
        *("=", ": ", ":", '"', "'", "\\", " ", "\n", "&", "?", "://", "@", "/", ",", "{", "}", ">"),
        *(
            "Bearer ",
            "Basic ",
            "sk-live-9",
            "hunter2",
            "abc",
            "[redacted]",
            JWT,
            PEM,
            "[",
            "(",
            ")",
        ),
        *("4111 1111 1111 1111", "4111111111111111", "41", "11", "-", ".", "bob@", "acme.example"),
        *("ann@mail.example", "bo@globex.test", "date_of_birth", "1980", "123-45-6789", "CASE"),
        *(" is ", "--", "-p ", "-u ann ", "curl ", "|", "\t", ";", "mysql ", "email,password\n"),
        *("| password |", "|-|-|\n", "\n", "\r\n", "Password", "hunter2", "date of birth"),
        *("contraseña", "Passwort", "密码", "\uff1a", "是", " ist ", "mot de passe", "\\u00f1"),
        *('"a\nb"', '""', '",', "<br>", "password\n", "\n\n", "note,password\n", "x y z"),
        *(
            "%40",
            "bob%40",
            "@2x",
            ".png",
            "+",
            "---+---\n",
            "12345678:",
            "aB1" * 12,
            "gsk_",
            "hooks.",
        ),
        *("<", "AKIAIOSFODNN7EXAMPLE", "ghp_" + "a1" * 18, "é", "\U0001f600", "-----BEGIN ", "_"),
    ]
)
texts = st.lists(pieces | st.text(max_size=4), max_size=25).map("".join)


@settings(deadline=None)
@given(texts, st.randoms(use_true_random=False))
@example(f"a {PEM} b", None)
@example("key is sk-live-99 end", None)
@example("\n\npassword\nhunter\nhunter2\n\npassword, x", None)
@example('a\nnote,password\n"a\nb",hunter2\n"c,\n\nd"x,hunter3\nend', None)
@example('x {"password": "a b", "n": 1}\npassword: hunter\nit: ends', None)
def test_however_a_text_is_cut_the_pieces_make_up_the_redacted_text(
    text: str, cuts: object
) -> None:
    with in_force(FILTER):
        whole = redact(text)
    chunks: list[str] = []
    rest = text
    while rest:
        size = 1 if cuts is None else cuts.randint(1, 12)  # type: ignore[attr-defined]
        chunks.append(rest[:size])
        rest = rest[size:]
    assert "".join(streamed(chunks)) == whole


@settings(deadline=None)
@given(texts)
@example("4111 1111 1111 1111-4111 1111 1111 1111")
def test_redacting_twice_changes_nothing_more_under_any_policy(text: str) -> None:
    with in_force(FILTER):
        once = redact(text)
        assert redact(once) == once


words = st.text(string.ascii_letters, min_size=1, max_size=9)


@settings(deadline=None)
@given(st.lists(words | st.sampled_from(["250", "12.50", "2026-01-02", "key", "the:"])))
def test_clean_text_goes_through_word_by_word(written: list[str]) -> None:
    text = " ".join(written)
    with in_force(FILTER):
        if redact(text) != text:
            return
    out = streamed([f"{word} " for word in written])
    assert "".join(out).strip() == text


@pytest.mark.parametrize(
    ("chunks", "told"),
    [
        (
            ["SSN 123-45-", "6789 mail bob@", "acme.example now"],
            "SSN [redacted] mail [redacted] now",
        ),
        (["key is sk", "-live", "-99 end"], "key is [redacted] end"),
        (["pay with 4111 1111", " 1111 1111", " please"], "pay with [redacted] please"),
        (["mail ann@mail", ".example or bo@globex.test"], None),
        (["-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE", " KEY-----\nok"], "[redacted]\nok"),
    ],
)
def test_no_prefix_of_a_match_is_ever_let_go(chunks: list[str], told: str | None) -> None:
    text = "".join(chunks)
    told = text if told is None else told
    for size in (1, 3, len(text)):
        cut = [text[place : place + size] for place in range(0, len(text), size)]
        for out in (streamed(chunks), streamed(cut)):
            assert "".join(out) == told
            gone = ""
            for piece in out:
                gone += piece
                assert told.startswith(gone)


def test_a_text_without_a_secret_is_let_go_at_the_next_word() -> None:
    out = streamed(["The ", "total ", "is ", "250 ", "dollars. ", "Bye", "."])
    assert out == ["The ", "total ", "is ", "250 ", "dollars. ", "", "", "Bye."]


def test_a_pattern_that_would_take_for_ever_holds_the_text_back_and_no_longer() -> None:
    slow = RedactionPolicy(patterns=(("slow", r"(?:(?:x+x+)+y)"),))
    filter_ = Filter(redactor_for(slow))
    chunks = ["x" * 40, "x" * 40 + "z and ", "xxy", " ok"]
    out = streamed(chunks, filter_)
    assert "".join(out) == "x" * 80 + "z and [redacted] ok"


def test_a_long_table_is_not_read_anew_for_each_piece() -> None:
    looks: list[int] = []
    (tables,) = [rule for rule in FILTER.redactor.rules if rule.undecided and rule.kind != "field"]

    def look(text: str, start: int) -> int:
        looks.append(len(text))
        assert tables.undecided is not None
        return tables.undecided(text, start)

    counted = [
        dataclasses.replace(rule, undecided=look) if rule is tables else rule
        for rule in FILTER.redactor.rules
    ]
    redactor = Redactor(POLICY)
    redactor.rules = tuple(counted)
    text = "user,password\n" + "".join(f"user{n},hunter{n}\n" for n in range(600))
    chunks = [text[place : place + 4] for place in range(0, len(text), 4)]
    out = streamed(chunks, Filter(redactor, FILTER.own))
    assert "hunter" not in "".join(out)
    assert len(looks) < 300 < len(chunks) / 5
