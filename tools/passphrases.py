"""Tells a password of several words from words that explain something."""

from __future__ import annotations

_MOST_WORDS = 12
_WORDS = """
    a an and any are as at be by can do for from had has have if in is it its may must no nor not
    of on or our per so than that the their then these this those to was were will with you your
    after all always ask at-least before between blank case change changed changes character
    characters days default digit digits e-mail email empty encrypted enter every expired expires
    field fields generated hash hashed hidden least length letter letters locked login long lower
    manager masked maximum min max minimum most never new number numbers old only optional
    password passwords phrase policy protected provided removed required reset rotate rotated same
    saved secret see send sent set sign signs stored string strong symbol symbols text tokens unique
    unknown unset unused upper user username using value vault weak when word words
    der die das ein eine mit und oder nicht zeichen mindestens ziffern siehe
    le la les un une des du de et ou au aux avec pas moins caractères voir
    el los las del con y o al menos caracteres no sin ver
    il di da per almeno caratteri um uma os dos com pelo não
    het een van met niet minimaal tekens i w z nie znaków не на символов
"""
"""Of which one is enough."""

_EXPLAINING = frozenset(_WORDS.split())


def is_passphrase(value: str) -> bool:
    """Whether a cell below the name of a password holds one of several words."""
    words = value.split()
    if not 1 < len(words) <= _MOST_WORDS or value.endswith((".", ":", "?", "…")):
        return False
    return not any(word.strip(".,;:!?()\"'").lower() in _EXPLAINING for word in words)
