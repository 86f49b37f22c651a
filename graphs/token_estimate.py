"""How many tokens a text probably has, where nobody has counted them."""

import math
from collections.abc import Iterable

from langchain_core.messages import BaseMessage

BYTES_PER_TOKEN = 3.5
"""Bytes of UTF-8 that a token is taken to have, a little fewer than most texts have."""

PER_MESSAGE = 4
"""Tokens that a message's role and its marks are taken to cost."""


def estimate(text: str) -> int:
    """Estimate the tokens of a text."""
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def estimate_messages(messages: Iterable[BaseMessage]) -> int:
    """Estimate the tokens of messages, each with its role and marks."""
    return sum(estimate(str(message.text)) + PER_MESSAGE for message in messages)
