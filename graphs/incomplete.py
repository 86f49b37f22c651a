"""An answer that calls itself incomplete: how a rung says that it was not enough.

The prompts of the rungs ask for the word, so that climbing rests on what was said and not on a
guess about it (seed "The Augmented LLM", the ladder).
"""

import re

_MARK = re.compile(
    r"[\s*_#>`\"']*incomplete\b[\s*_`\"']*(?:[:.,;\u2013\u2014\uff1a-]|$)", re.IGNORECASE
)


def is_incomplete(answer: str) -> bool:
    """Tell whether an answer begins with "Incomplete:", in any case and with any emphasis."""
    return _MARK.match(answer) is not None
