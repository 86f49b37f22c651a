"""What of a thread's history goes with a run that is undone, or when only the latest is kept."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from langgraph.checkpoint.base import CheckpointTuple

Place = tuple[str, str, str]
"""A checkpoint's thread, namespace and id."""


class Made(NamedTuple):
    """A checkpoint, the one it was made from, and the run that made it."""

    thread: str
    namespace: str
    id: str
    parent: str | None
    run: str | None

    @property
    def place(self) -> Place:
        """Name the checkpoint."""
        return self.thread, self.namespace, self.id

    @property
    def origin(self) -> Place | None:
        """Name the one it was made from."""
        return None if self.parent is None else (self.thread, self.namespace, self.parent)


def undone(
    made: Collection[Made], written: Iterable[Place], runs: Collection[str]
) -> tuple[list[Place], list[Place]]:
    """Tell what goes with runs that are rolled back.

    A `DeltaChannel` is rebuilt from the writes on all checkpoints before: what another run has
    gone on from stays, and so do the writes it was made from.

    Args:
        made: All checkpoints of the threads that the runs were in.
        written: Checkpoints that the runs wrote to, theirs or not.
        runs: The runs' ids.

    Returns:
        The checkpoints that go, and those that stay without what the runs wrote to them.
    """
    by_place = {one.place: one for one in made}
    kept: set[Place] = set()
    for one in made:
        if one.run in runs:
            continue
        place: Place | None = one.place
        while place in by_place and place not in kept:
            kept.add(place)
            place = by_place[place].origin
    needed = {by_place[place].origin for place in kept}
    return (
        [place for place in by_place if place not in kept],
        [place for place in written if place in kept and place not in needed],
    )


def superseded(history: Iterable[CheckpointTuple]) -> list[Place]:
    """Return the checkpoints of a thread that its latest ones, one a namespace, don't need.

    A latest one needs those before it, back to where each `DeltaChannel` is stored whole.
    """
    namespaces: dict[str, dict[str, CheckpointTuple]] = defaultdict(dict)
    for saved in history:
        here = saved.config["configurable"]
        namespaces[here["checkpoint_ns"]][here["checkpoint_id"]] = saved
    gone: list[Place] = []
    for namespace, found in namespaces.items():
        needed = _chain(found)
        gone.extend(
            (str(saved.config["configurable"]["thread_id"]), namespace, name)
            for name, saved in found.items()
            if name not in needed
        )
    return gone


def _chain(found: dict[str, CheckpointTuple]) -> set[str]:
    """Return the ids of the latest checkpoint and of those that its channels are rebuilt from."""
    unread = {
        channel
        for saved in found.values()
        for channel in saved.metadata.get("counters_since_delta_snapshot") or ()
    }
    needed: set[str] = set()
    name: str | None = max(found)
    while name in found:
        saved = found[name]
        needed.add(name)
        unread -= saved.checkpoint["channel_values"].keys()
        if not unread or saved.parent_config is None:
            break
        name = saved.parent_config["configurable"]["checkpoint_id"]
    return needed
