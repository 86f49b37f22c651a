"""How many tokens the next request will have, and how that is known."""

import functools
import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage

from graphs.errors import UsageError
from graphs.token_estimate import PER_MESSAGE, estimate, estimate_messages
from tools import redact
from tools.text import one_line, shorten

TokenCounter = Callable[[list[BaseMessage]], int]
CountedBy = Literal["token_counter", "usage", "tiktoken", "estimate"]

LEAST = 4
"""How many times less than estimated a model's own count may be: no script takes so few tokens."""

_BLOBS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


@dataclass(frozen=True, slots=True)
class Count:
    """A number of tokens, and how it was counted."""

    tokens: int
    by: CountedBy


def count(
    sent: Sequence[BaseMessage],
    *,
    counter: TokenCounter | None = None,
    model: str = "",
    answered: tuple[int, AIMessage] | None = None,
) -> Count:
    """Count what is about to be sent.

    The caller's counter decides where there is one. Else what the model itself counted in the
    request before is taken, and only what was added since is counted here: by tiktoken for OpenAI's
    models, where its tables are on this machine (nothing is downloaded in a run), or estimated. So
    is the whole, where the model's own number is too small to be true.

    Args:
        sent: The request, system prompt included.
        counter: As LangChain's `trim_messages` takes it.
        model: The model's name.
        answered: The reply to a request that was the beginning of this one, where its model told
            its usage, and how many messages of this request come behind that reply.

    Raises:
        UsageError: The caller's counter failed, or returned no number of tokens.
    """
    if counter is not None:
        return Count(_told_by(counter, sent), "token_counter")
    encoding = _encoding(model)
    by: CountedBy = "estimate" if encoding is None else "tiktoken"
    if answered is not None and (usage := answered[1].usage_metadata):
        thought = (usage.get("output_token_details") or {}).get("reasoning", 0)
        known = usage["input_tokens"] + usage["output_tokens"] - thought
        place = len(sent) - answered[0]
        if known * LEAST >= estimate_messages(sent[:place]):
            added = sum(_tokens(message, encoding) for message in sent[place:])
            return Count(known + added, "usage")
    return Count(sum(_tokens(message, encoding) for message in sent), by)


def _told_by(counter: TokenCounter, sent: Sequence[BaseMessage]) -> int:
    try:
        told = counter(list(sent))
    except Exception as error:
        why = shorten(one_line(redact(f"{type(error).__name__}: {error}")), 200)
        raise UsageError(f"token_counter failed: {why}") from error
    try:
        tokens = int(told)
    except (TypeError, ValueError, OverflowError):
        tokens = -1
    if tokens < 0:
        said = shorten(one_line(redact(repr(told))), 80)
        raise UsageError(f"token_counter must return a number of tokens, and returned {said}")
    return tokens


def _tokens(message: BaseMessage, encoding: Any) -> int:
    text = str(message.text)
    if encoding is None:
        return estimate(text) + PER_MESSAGE
    return _encoded(encoding, text) + PER_MESSAGE


@functools.lru_cache(maxsize=2048)
def _encoded(encoding: Any, text: str) -> int:
    """Count by tiktoken; what was counted before, nearly all of a transcript, is remembered."""
    return len(encoding.encode(text, disallowed_special=()))


@functools.lru_cache(maxsize=64)
def _encoding(model: str) -> Any:
    """Return tiktoken's encoding of a model, or None where it has none or its table is not here."""
    try:
        import tiktoken

        name = tiktoken.encoding_name_for_model(model)
    except (ImportError, KeyError):
        return None
    return tiktoken.get_encoding(name) if _is_at_hand(name) else None


def _is_at_hand(encoding: str) -> bool:
    """Tell whether tiktoken has downloaded an encoding's table before."""
    table = _BLOBS.format(encoding.replace("_harmony", "_base"))
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    place = Path(folder) if folder else Path(tempfile.gettempdir()) / "data-gym-cache"
    return (place / hashlib.sha1(table.encode(), usedforsecurity=False).hexdigest()).is_file()
