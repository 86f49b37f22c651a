"""An answer that calls itself incomplete: how a rung says that it was not enough.

The prompts of the rungs ask for the word, so that climbing rests on what was said and not on a
guess about it (seed "The Augmented LLM", the ladder).
"""

import re

from graphs.state import Ending, ending

_MARK = re.compile(
    r"[\s*_#>`\"']*incomplete\b[\s*_`\"']*(?:[:.,;\u2013\u2014\uff1a-]|$)", re.IGNORECASE
)


def is_incomplete(answer: str) -> bool:
    """Tell whether an answer begins with "Incomplete:", in any case and with any emphasis."""
    return _MARK.match(answer) is not None


def judged(end: Ending, after: str) -> Ending:
    """Return the ending, flagged where the answer calls itself incomplete.

    Args:
        end: The ending.
        after: What was not enough then, in the singular: "one tool round".
    """
    if end["status"] != "answered" or not is_incomplete(end["answer"] or ""):
        return end
    reason = f"{after} was not enough: the answer says that it is incomplete"
    return ending(end["answer"], "tool_limit", reason)
