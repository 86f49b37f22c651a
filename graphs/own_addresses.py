"""Whose e-mail addresses a run may show: its user's, and those that the user wrote."""

from collections.abc import Collection

from graphs.context import Context
from graphs.places import human_messages
from graphs.state import State
from tools.personal_rules import email_spans, may_hold_email, plain_address


class OwnAddresses:
    """The addresses, in lower case, that are no secret from a run's user; called to be told.

    They are `user_email`, `user_id` where it is one, and whatever the user's own messages in the
    thread hold: who wrote an address knows it. They are looked up when the first address is met,
    which in most steps none is.

    Args:
        state: The thread's state.
        context: The run's settings.
    """

    __slots__ = ("_context", "_found", "_state")

    def __init__(self, state: State, context: Context) -> None:
        self._state, self._context = state, context
        self._found: Collection[str] | None = None

    def __call__(self) -> Collection[str]:
        """Return them."""
        if self._found is None:
            self._found = self._look_up()
        return self._found

    def _look_up(self) -> Collection[str]:
        texts = [self._context.user_email or "", self._context.user or ""]
        texts += [message.text for message in human_messages(self._state.get("messages") or ())]
        return {
            plain_address(text[start:end])
            for text in texts
            if may_hold_email(text)
            for _, start, end in email_spans(text)
        }
