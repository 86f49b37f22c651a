"""Whose e-mail addresses a run may show: its user's, and those that the user wrote."""

from collections.abc import Collection
from functools import cache

from langchain_core.messages import HumanMessage

from graphs.context import Context
from graphs.state import State
from tools.personal_rules import email_spans
from tools.redactor import Own


def own_addresses(state: State, context: Context) -> Own:
    """Return the addresses, in lower case, that are no secret from the run's user.

    They are `user_email`, `user_id` where it is one, and whatever the user's own messages in the
    thread hold: who wrote an address knows it. It is looked up when the first address is met.
    """

    @cache
    def addresses() -> Collection[str]:
        texts = [context.user_email or "", context.user or ""]
        messages = state.get("messages") or ()
        texts += [message.text for message in messages if isinstance(message, HumanMessage)]
        return {
            text[start:end].lower()
            for text in texts
            if "@" in text
            for _, start, end in email_spans(text)
        }

    return addresses
