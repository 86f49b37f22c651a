"""What a tool may be called."""

import re

from tools.errors import ContractError

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What every provider takes as a tool's name."""

SPOKEN_NAME = re.compile(r"\w[\w.:/-]{0,63}")
"""What may name a tool where its calls are written as text, `crm.find[b]`, and read from it."""


def check_name(name: str, *, spoken: bool = False) -> None:
    """Refuse a name that a model can't call a tool by.

    Raises:
        ContractError: It is none; where calls are written as text, it may be more.
    """
    if spoken and not SPOKEN_NAME.fullmatch(name):
        raise ContractError(name, "a name is 1 to 64 letters, digits, '_', '-', '.', ':' and '/'")
    if not spoken and not NAME.fullmatch(name):
        raise ContractError(name, "a name is 1 to 64 letters, digits, '_' and '-'")
