"""The notes file of a run: one row of the store for each run, which no other run touches.

The transcript holds every revision, as a call of `update_notes`, and the row the newest that any
branch of the run wrote. What the notes are at a checkpoint, its own transcript tells: after a fork
each branch goes on with its own, whichever of them the row holds.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolArg
from langgraph.store.base import BaseStore, Item

from graphs import audit
from graphs.node import Scope
from graphs.reading import Reading
from graphs.state import State
from graphs.transcript import newest_question
from graphs.waiting import Steps, Wait
from tools import CallScope, Contract, ToolSet, as_contracts, contract, redact
from tools.notes import user_label
from tools.text import clean_text

SAVED = "notes saved"
UNREADABLE = "(the notes of this run can't be read; they were left as they are)"

logger = logging.getLogger("rungs")


@dataclass(frozen=True, slots=True)
class NotesFile:
    """Where the notes of one run lie, and which turn it is.

    Attributes:
        store: The store; None where the graph has none: then the transcript alone holds them.
        thread: The thread.
        run: Id of the question that the run answers.
        user: Whose run it is, for the log.
        turn: The turn that writes.
        revision: The number that the revision which is written gets.
        call: Id of the call that writes: it writes once, however often it is run.
        limit: Characters (code points) that the notes may have.
    """

    store: BaseStore | None
    thread: str | None
    run: str
    user: str | None = None
    turn: int = 0
    revision: int = 1
    call: str = ""
    limit: int = 0

    @property
    def namespace(self) -> tuple[str, str]:
        """The namespace of the thread's notes files."""
        return ("run_notes", user_label(self.thread or "none"))


class NotesFileError(ValueError):
    """Notes that can't be kept; one sentence that says why."""


def update_notes(text: str, file: Annotated[NotesFile, InjectedToolArg]) -> str:
    """Replace your notes with this text: plan and findings, for old turns drop out of the prompt.

    Args:
        text: The whole of the notes; what it leaves out is gone.
        file: The notes file of the run; never shown to the model.

    Raises:
        NotesFileError: The text is too long, or what is stored can't be read; it is kept as it is.
    """
    kept = redact(clean_text(text))
    if len(kept) > file.limit:
        raise NotesFileError(
            f"the notes have {len(kept):,} characters, at most {file.limit:,} are allowed: "
            "write a shorter version; the old notes were kept"
        )
    if file.store is not None:
        item = file.store.get(file.namespace, file.run)
        if not _is_notes(item):
            raise NotesFileError("the stored notes can't be read, and were left as they are")
        if item is not None and item.value.get("call") == file.call:
            return SAVED
        value = {"text": kept, "revision": file.revision, "turn": file.turn, "call": file.call}
        file.store.put(file.namespace, file.run, value, index=False)
    audit.log(
        audit.Event(
            kind="notes_revision",
            step=file.turn,
            revision=file.revision,
            characters=len(kept),
            result=kept,
            thread=file.thread,
            user=file.user,
        )
    )
    return SAVED


def notes_tool() -> Contract:
    """Make the tool's contract: it touches nothing but the run's own notes, and needs no yes."""
    made = contract(update_notes, effect="read_only", requires_confirmation=False)
    return replace(made, injected={"file": _file_of_call})


def with_notes(tools: Sequence[Contract]) -> Sequence[Contract]:
    """Return the tools of a run and `update_notes`; servers that list some are not asked yet.

    Raises:
        ContractError: Another tool has the name.
    """
    if isinstance(tools, ToolSet):
        return tools.beside(notes_tool())
    return as_contracts([*tools, notes_tool()], spoken=True)


def _file_of_call(scope: CallScope) -> NotesFile:
    runtime, state = scope.runtime, scope.state
    thread = scope.config.get("configurable", {}).get("thread_id")
    progress = state.get("progress") or {}
    return NotesFile(
        store=runtime.store,
        thread=None if thread is None else str(thread),
        run=newest_question(state["messages"]).id or "",
        user=runtime.context.user,
        turn=progress.get("rounds", 0),
        revision=_saved.of(state["messages"], lambda saved: saved.revision) + 1,
        call=scope.call_id,
        limit=runtime.context.notes_limit,
    )


def file_of(state: State, scope: Scope) -> NotesFile:
    """Return the notes file of the run in progress."""
    run = newest_question(state["messages"]).id or ""
    return NotesFile(scope.store, scope.thread_id, run, scope.context.user)


def begin_notes(file: NotesFile, text: str) -> Steps[None]:
    """Create the notes file of a run: empty, or with what an earlier run left."""
    store = file.store
    if store is None:
        return
    value = {"text": text, "revision": 0, "turn": 0, "call": ""}
    where, key = file.namespace, file.run
    yield Wait(
        lambda: store.put(where, key, value, index=False),
        lambda: store.aput(where, key, value, index=False),
    )


def read_notes_file(
    file: NotesFile, messages: Sequence[BaseMessage], begun_with: str
) -> Steps[str]:
    """Read the notes as they are at the end of a transcript.

    Args:
        file: The notes file.
        messages: The transcript.
        begun_with: What the run began with.

    Returns:
        The notes, "" where there are none, or a line that says that they can't be read.
    """
    text, call = _saved.of(messages, lambda saved: (saved.text, saved.call))
    told = begun_with if text is None else redact(clean_text(text))
    store = file.store
    if store is None:
        return told
    where, key = file.namespace, file.run
    item = yield Wait(lambda: store.get(where, key), lambda: store.aget(where, key))
    if not _is_notes(item):
        logger.warning("the notes of a run in thread %s can't be read", file.thread)
        return UNREADABLE
    is_of_branch = item is not None and text is not None and item.value.get("call") == call
    return str(item.value["text"]) if item and is_of_branch else told


def _is_notes(item: Item | None) -> bool:
    return item is None or (
        isinstance(item.value, dict) and isinstance(item.value.get("text"), str)
    )


@dataclass(slots=True)
class _Saved:
    """The newest revision that the transcript holds of the newest run's notes.

    Attributes:
        text: What it says; None before the first one.
        call: Id of the call that saved it.
        revision: How many there are.
        asked: Texts of the calls that have no result yet, by call id.
    """

    text: str | None = None
    call: str | None = None
    revision: int = 0
    asked: dict[str | None, str] = field(default_factory=dict)

    def take(self, message: BaseMessage, _: int) -> None:
        """Take one more message in; a question begins a new run."""
        if isinstance(message, HumanMessage):
            self.text, self.call, self.revision = None, None, 0
        elif isinstance(message, AIMessage):
            calls = [call for call in message.tool_calls if call["name"] == update_notes.__name__]
            self.asked = {call["id"]: str(call["args"].get("text", "")) for call in calls}
        elif isinstance(message, ToolMessage) and message.tool_call_id in self.asked:
            text = self.asked.pop(message.tool_call_id)
            if message.text == SAVED:
                self.text, self.call = text, message.tool_call_id
                self.revision += 1


_saved = Reading(_Saved, _Saved.take)
