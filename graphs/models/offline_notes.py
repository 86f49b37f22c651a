"""Notes about the user: which sentences are one, and which questions notes answer."""

from __future__ import annotations

import re

from graphs.models.offline_words import stems

_TOLD = re.compile(
    r"^(?:please |also |and |can you |could you |hi,? |hello,? )*"
    r"(?:(?:remember|note|keep in mind|don'?t forget|do not forget)(?: that|:|,)? |"
    r"(?:(?:make|save|take|store) (?:a|this) note|(?:save|store))(?: of| that|:| that:)+ )(.+)$",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"^(?:hi,? |hello,? |by the way,? |please |and |also )*(?:"
    r"i (?:(?:really|much|always|usually|generally|still) )*(?:prefer|like|love|hate|dislike)\b"
    r"|i (?:do not|don't) (?:like|want to be (?:called|phoned|contacted|e-?mailed|texted))\b"
    r"|my (?:preferred|favou?rite) \w+"
    r"|i(?:'d| would) rather be (?:called|e-?mailed|texted|phoned)\b"
    r"|(?:always |only |never |don't |do not )*(?:contact|reach|call|phone|text|e-?mail|write to)"
    r" me\b(?! back| if| when| about| the| a\b))",
    re.IGNORECASE,
)
_ABOUT_ME = re.compile(
    r"\b(?:know|remember|notes?)\b.*\b(?:about me|of me|my)\b|\bmy notes\b|\bdid i tell you\b",
    re.IGNORECASE,
)
_OF_THE_USER = re.compile(
    r"\b(?:contact|reach|call|phone|text|e-?mail|write to|get (?:in touch with|hold of)) me\b"
    r"|\b(?:do|would|should) i (?:\w+ )?(?:prefer|like|love|hate|dislike|want)\b"
    r"|\bi (?:\w+ )*be (?:contacted|reached|called)\b|\bmy (?:preferred|favou?rite|preferences?)\b",
    re.IGNORECASE,
)
_CONTACT = frozenset(["email", "phone", "text", "sms", "chat", "letter", "post", "whatsapp"])
_CALL_ME = re.compile(r"\bcall me\b(?! [A-Z])|\bcalls\b|\bbe called (?:on|at|by)\b")
_TO_CONTACT = frozenset(["contact", "reach", "touch"])
_MOST = 0.6


def note_in(text: str) -> str | None:
    """Return what a sentence asks to be remembered ("remember that ...")."""
    found = _TOLD.match(text.replace("\u2019", "'"))
    return found.group(1).strip() if found else None


def states_preference(text: str) -> bool:
    """Say whether a sentence, which is no question, tells how the user likes things done."""
    return not text.endswith("?") and _PREFERENCE.match(text.replace("\u2019", "'")) is not None


def from_notes(question: str, notes: list[str]) -> str | None:
    """Answer a question about the user from the notes of earlier conversations, oldest first.

    The note must hold most of what is asked; of several, the newest does. Where it is asked how the
    user wants to be reached, a note that names a way of it counts: e-mail, phone, letter.
    """
    if not notes or not re.search(r"\b(?:i|me|my|mine)\b", question, re.IGNORECASE):
        return None
    if _ABOUT_ME.search(question):
        return "From my notes: " + "; ".join(note.rstrip(".") for note in notes) + "."
    asked = stems(question)
    of_the_user = _OF_THE_USER.search(question) is not None
    if of_the_user and asked & _TO_CONTACT:
        asked = (asked - _TO_CONTACT) | {"contact"}
    best, most = "", 0.0
    for note in reversed(notes):
        said = stems(note)
        if of_the_user and (said & (_CONTACT | _TO_CONTACT) or _CALL_ME.search(note)):
            said |= {"contact"}
        share = len(said & asked) / len(asked) if asked else 0.0
        if share > most:
            best, most = note, share
    return f"From my notes: {best.rstrip('.')}." if most > _MOST else None
