"""What steps leave behind, as rows of three tables: those of many steps in one statement."""

from collections.abc import Mapping, Sequence
from typing import Any

Row = tuple[Any, ...]

Rows = Mapping[str, Mapping[Row, Row]]
"""What one call saves: rows by their kind (a name in `_INSERT`) and key: what the key lacks."""

_WRITES = """
    INSERT INTO checkpoint_writes (
        thread_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, channel, type, blob,
        run_id
    )
    SELECT * FROM unnest(
        %b::text[], %b::text[], %b::text[], %b::text[], %b::integer[],
        %b::text[], %b::text[], %b::text[], %b::bytea[], %b::text[]
    )
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO """

_INSERT = {
    "blobs": """
    INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    SELECT * FROM unnest(%b::text[], %b::text[], %b::text[], %b::text[], %b::text[], %b::bytea[])
    ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO NOTHING""",
    "writes": f"{_WRITES} NOTHING",
    "marks": f"""{_WRITES} UPDATE SET
        channel = EXCLUDED.channel, type = EXCLUDED.type, blob = EXCLUDED.blob,
        run_id = EXCLUDED.run_id""",
    "checkpoints": """
    INSERT INTO checkpoints (
        thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata
    )
    SELECT thread_id, checkpoint_ns, checkpoint_id, parent, checkpoint::jsonb, metadata::jsonb
    FROM unnest(%b::text[], %b::text[], %b::text[], %b::text[], %b::text[], %b::text[])
        AS new (thread_id, checkpoint_ns, checkpoint_id, parent, checkpoint, metadata)
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id)
    DO UPDATE SET checkpoint = EXCLUDED.checkpoint, metadata = EXCLUDED.metadata""",
}
"""How each kind is inserted, with a list for each column.

`writes` are what tasks wrote into channels, once and for all; `marks` what LangGraph notes of a
task (an error, a pause, an answer), where the newest counts.
"""
_LAST_COUNTS = ("marks", "checkpoints")


def statement(saved: Sequence[Rows]) -> tuple[str, list[list[Any]]]:
    """Put together what several calls save, as if one were done after the other.

    Args:
        saved: What each call saves; at least one row in all.

    Returns:
        One statement, and its lists.
    """
    whole: dict[str, dict[Row, Row]] = {kind: {} for kind in _INSERT}
    for rows in saved:
        for kind, those in rows.items():
            for key, row in those.items():
                if kind in _LAST_COUNTS:
                    whole[kind][key] = row
                else:
                    whole[kind].setdefault(key, row)
    for key in whole["marks"].keys() & whole["writes"].keys():
        del whole["writes"][key]
    kinds = [kind for kind in _INSERT if whole[kind]]
    *before, last = (_INSERT[kind] for kind in kinds)
    named = ", ".join(f"{kind} AS ({insert})" for kind, insert in zip(kinds, before, strict=False))
    lists = [
        list(column)
        for kind in kinds
        for column in zip(*(key + row for key, row in whole[kind].items()), strict=True)
    ]
    return (f"WITH {named}{last}" if named else last), lists
