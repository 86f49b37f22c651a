"""Show each step of a run as it happens."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graphs.audit import events
from graphs.cli.screen import Screen
from graphs.cli.telling import tell
from tools.redact import redact_data


class Steps:
    """The steps of one run, shown as they come in.

    Args:
        screen: Where they are shown.
        transcript: What the thread holds as the run begins, the new question included.

    Attributes:
        ran: Names of the tools that ran to their end, in order.
        stopped: Names of the tools that were stopped before it.
        busy: Names of the tools that run, until their results are recorded; "" while the model
            is waited for.
    """

    def __init__(self, screen: Screen, transcript: Iterable[AnyMessage] = ()) -> None:
        self._screen = screen
        self._messages = list(transcript)
        self._told = 0
        self._open: dict[str, str] = {}
        self.ran: list[str] = []
        self.stopped: list[str] = []
        self.busy = ""
        self._tell_new(shown=False)
        self.busy = self._running()

    @property
    def heard(self) -> Sequence[AnyMessage]:
        """The transcript, with the steps of a rung that has not ended."""
        return self._messages

    def begin(self) -> None:
        """Show that something is under way before the first step has ended."""
        using = f"AI is using tools: {self.busy} (Ctrl-C stops) ..."
        self._screen.wait(using if self.busy else "waiting for the model ...")

    def hear(self, event: Mapping[str, Any]) -> None:
        """Show what a tool tells while it runs, or a rung of its steps; from any thread."""
        if event["state"] == "step":
            self._add(event["messages"])
            self._tell_new(shown=True)
            self.settle()
        if event["state"] == "progress":
            self._screen.progress(f"{event['tool']}: {_how_far(event)} (Ctrl-C stops)")

    def update(self, update: Mapping[str, Any]) -> None:
        """Show what a step of the graph wrote.

        Args:
            update: One item of `stream_mode="updates"`: what each node that ran wrote.
        """
        for node, written in update.items():
            if not node.startswith("__") and isinstance(written, Mapping):
                self._add(written.get("messages") or [])
        self._tell_new(shown=True)
        self.busy = self.busy or self._running()

    def _add(self, messages: Iterable[AnyMessage]) -> None:
        """Add what is new; a rung of a ladder tells of its steps before the ladder does."""
        known = {message.id for message in self._messages if message.id}
        self._messages += [message for message in messages if message.id not in known]

    def settle(self) -> None:
        """Take note that what was written so far is recorded, and show what is waited for now."""
        self.busy = self._running()
        self.begin()

    def _running(self) -> str:
        return ", ".join(self._open.values())

    def _tell_new(self, *, shown: bool) -> None:
        told = list(events(self._messages))
        calls = self._note_calls()
        for event in told[self._told :]:
            if event.kind == "tool_call" and shown and event.seconds is not None:
                stopped = event.code == "interrupted"
                (self.stopped if stopped else self.ran).append(event.tool or "unknown")
            if not shown:
                continue
            asked = calls if event.kind == "model_call" else []
            style = "yellow" if event.status == "error" else "cyan" if asked else "dim"
            self._screen.text(tell(event, self._screen.width, calls=asked), style)
        self._told = len(told)

    def _note_calls(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Note which calls wait for a result, and return those of the newest reply."""
        newest: list[tuple[str, Mapping[str, Any]]] = []
        self._open = {}
        for message in self._messages:
            if isinstance(message, HumanMessage):
                self._open = {}  # calls left open before it are never run
            elif isinstance(message, AIMessage):
                newest = [(call["name"], redact_data(call["args"])) for call in message.tool_calls]
                for call in (*message.tool_calls, *message.invalid_tool_calls):
                    self._open[call["id"] or ""] = call["name"] or "unknown"
            elif isinstance(message, ToolMessage):
                self._open.pop(message.tool_call_id, None)
        return newest


def _how_far(event: Mapping[str, Any]) -> str:
    done, total = event.get("done"), event.get("total")
    counted = "" if done is None else f"{done:g}" if total is None else f"{done:g} of {total:g}"
    return ", ".join(part for part in (event["text"], counted) if part) or "under way"
