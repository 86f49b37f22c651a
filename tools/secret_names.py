"""Names that stand for credentials, however they are spelled."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection

from tools.secret_words import composed, is_password

_SMALL = r"[^\W0-9_A-Z]"
_PARTS = re.compile(rf"[A-Z]+(?!{_SMALL})|[A-Z]?{_SMALL}+|[0-9]+")
_SECRET = re.compile(
    r"(?:^|_)(?:"
    r"pwd|token|cookie|jwt|creds?|credentials?|authorization"
    r"|(?:api|access|secret|private|auth|account|signing|encryption|master|session|app)_?key"
    r"|(?<=_)pass"
    r")(?:_value|_hash|_\d+)?$"
    r"|(?:pass_?word|passwd|passphrase|passcode|secret|secrets|apikey|accesskey|secretkey|privatekey"
    r"|accountkey|accesstoken|authtoken|refreshtoken)(?:_value|_hash|_\d+)?$"
)
_NO_SECRET = re.compile(
    r"(?:^|_)(?:page|next|continuation|cursor|sync|pagination|start|end|stop|eos|bos|pad|unk|sep|mask"
    r"|cls|per)_token$"
)


@functools.lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """Spell a name in one way: `dateOfBirth` and `Date-Of-Birth` are `date_of_birth`."""
    if len(name) > 100:  # noqa: PLR2004 - no name, and not worth keeping
        return ""
    return "_".join(_PARTS.findall(composed(name))).lower()


@functools.lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a credential: `apiKey`, `X-Api-Key`, `Contraseña`.

    Counts (`max_tokens`) and cursors (`next_page_token`) do not.
    """
    plain = plain_name(name)
    if _NO_SECRET.search(plain):
        return False
    # capitals in odd places are no beginnings of words
    return any(_SECRET.search(p) or is_password(p) for p in (plain, plain_name(name.lower())))


def is_field(name: str, fields: Collection[str]) -> bool:
    """Whether a name is one of fields, given as `plain_name` spells them; `dateofbirth` is too."""
    plain = plain_name(name)
    return plain in fields or any(_run_together(f) == _run_together(plain) for f in fields)


def _run_together(plain: str) -> str:
    return plain.replace("_", "")
