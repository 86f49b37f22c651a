"""A reply without the thinking that some models write between tags: nothing in it is parsed."""

import re

from graphs.react.keywords import keyword_of

_TAG = re.compile(r"<(/?)(think|thinking|thought|reasoning)>", re.IGNORECASE)


def without_thinking(text: str) -> str:
    """Leave out what stands between thinking tags, before the first action or answer.

    * A block that never ends takes the rest of the text with it.
    * An end without a beginning, which templates leave that open the tag in the prompt, takes what
      is before it.
    * Behind an `Action:` or a `Final Answer:` a tag is the model's own text and stays.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    place = 0
    inside: str | None = None
    for number, tag in enumerate(_TAG.finditer(text)):
        closes, name = bool(tag.group(1)), tag.group(2).lower()
        if inside is not None:
            if closes and name == inside:
                inside, place = None, tag.end()
        elif closes:
            if number == 0:
                place = tag.end()
        else:
            part = text[place : tag.start()]
            if _decides(part, at_start=not kept or kept[-1][-1:] in {"", "\n", "\r"}):
                break
            kept.append(part)
            inside, place = name, tag.end()
    if inside is None:
        kept.append(text[place:])
    return "".join(kept)


def _decides(part: str, *, at_start: bool) -> bool:
    """Tell whether a part of a reply holds the keyword that says what the reply is."""
    lines = part.splitlines()[0 if at_start else 1 :]
    return any((found := keyword_of(line)) and found.keyword != "thought" for line in lines)
