"""Texts read in bulk: the same words, the same index and the same scores as one at a time."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_catalog import SHOP, names, tool
from tools import Contract
from tools.catalog import Catalog
from tools.ranking.arrays import sums
from tools.ranking.lexicon import Lexicon
from tools.ranking.postings import MOST_WORDS
from tools.ranking.split import split
from tools.ranking.words import words_of

bounded = settings(deadline=None, derandomize=True, database=None)

VERBS = ["create", "list", "delete", "find", "Convert", "getAll", "send", "Update"]
THINGS = ["invoice", "user accounts", "weather", "HTTPServer", "Währung", "法令", "parcel2go"]
LIBRARY: list[Contract] = [
    tool(f"{verb}_{number}_of_5", f"{verb} the {thing} of a {other}.", what=thing)
    for verb in VERBS
    for number, (thing, other) in enumerate(pairwise([*THINGS, THINGS[0]]))
]
QUERIES = ["send invoices to accounts", "currency", "wether, and delete parcels", "法令", "server"]

pieces = st.sampled_from(
    ["get", "URL", "Id", "2", "_", " ", ".", "é", "ß", "法令", "\x01", "\u2019", "İ"]
)
written = st.one_of(st.text(max_size=30), st.lists(pieces, max_size=12).map("".join))


def scores(catalog: Catalog) -> list[list[tuple[str, float]]]:
    return [[(m.tool.name, m.score) for m in catalog.search(query, 20)] for query in QUERIES]


@bounded
@given(st.lists(written, max_size=5))
def test_texts_split_together_have_the_words_they_have_alone(texts: list[str]) -> None:
    found = split(texts)
    words = [word.decode()[:64] for word in found.words(np.arange(len(found.starts)))]
    assert words == [word for text in texts for word in words_of(text)]
    assert found.counts.tolist() == [len(words_of(text)) for text in texts]


@bounded
@given(st.lists(written, max_size=5))
def test_a_lexicon_gives_back_the_words_it_has_read(texts: list[str]) -> None:
    read = Lexicon().read(texts)
    words = [read.words[number] for number in read.numbers]
    assert words == [word for text in texts for word in words_of(text)]
    assert read.counts.tolist() == [len(words_of(text)) for text in texts]


@pytest.mark.parametrize("at_once", [1, 2, 7, 54])
def test_tools_added_a_few_at_a_time_are_found_like_tools_added_together(at_once: int) -> None:
    catalog = Catalog(LIBRARY[:at_once])
    for some in LIBRARY[at_once:]:
        catalog.search(QUERIES[0])
        catalog.add(some)
    assert scores(catalog) == scores(Catalog(LIBRARY))


def test_a_large_catalog_that_was_changed_answers_like_a_new_one() -> None:
    rng = random.Random(7)  # noqa: S311
    catalog = Catalog(LIBRARY)
    for name in rng.sample([t.name for t in LIBRARY], 30):
        again = catalog.remove(name)
        if rng.random() < 0.5:
            catalog.add(again)
    assert scores(catalog) == scores(Catalog(catalog))


def test_a_field_of_very_many_words_counts_up_to_its_bound() -> None:
    filler = " ".join(f"word{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(MOST_WORDS))
    catalog = Catalog([tool("long", f"{filler} unicorn"), *SHOP])
    assert "long" not in names(catalog, "unicorn")
    assert names(catalog, "wordaa")[0] == "long"
    assert names(catalog, "refund")[0] == "refund_quote"


def test_sums_of_groups_are_those_of_each_group() -> None:
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    places, lengths = np.array([3, 0, 1, 1, 2]), np.array([2, 0, 3])
    expected = [rows[[3, 0]].sum(axis=0), np.zeros(3), rows[[1, 1, 2]].sum(axis=0)]
    assert sums(rows, places, lengths).tolist() == np.stack(expected).tolist()


def test_words_read_again_keep_their_numbers_however_many_share_a_place_of_the_table() -> None:
    lexicon = Lexicon()
    words = [f"{'ab' * (number % 12)}x{number:06x}" for number in range(30_000)]
    first = lexicon.read(words)
    again = lexicon.read([*reversed(words), "new"])
    assert [first.words[number] for number in first.numbers] == [
        word for text in words for word in words_of(text)
    ]
    whole = np.split(again.numbers, np.cumsum(again.counts))
    there = np.split(first.numbers, np.cumsum(first.counts))
    for mine, theirs in zip(reversed(whole[: len(words)]), there[: len(words)], strict=True):
        assert mine.tolist() == theirs.tolist()
    assert len(set(again.words)) == len(again.words)
