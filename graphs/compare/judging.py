"""A model as judge: whether an answer gives what is expected."""

import re

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage

import prompts
from graphs.compare.checks import Verdict
from graphs.compare.questions import Question
from graphs.models import retry
from graphs.models.quirks import answer_text
from tools import redact

_VERDICT = re.compile(
    r"[\s*_#\"'`]*(yes|no)\b(?!\s+(?:and|or)\b)[\s*_\"'`]*[:.,\u2013\u2014-]?\s*(.*)",
    re.IGNORECASE,
)
_SHOWN = 300


class Judge:
    """Asks a model for a verdict; what goes wrong is a verdict too, an unknown one.

    Args:
        model: The model.

    Raises:
        TemplateError: `prompts/judge.md` is wrong.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model
        self._prompt = prompts.load("judge", names={"question", "expected", "answer"})

    def check(self, question: Question, answer: str) -> Verdict:
        """Ask whether an answer gives what is expected."""
        expected = question.expected if isinstance(question.expected, tuple) else ()
        asked = self._prompt.render(
            question=question.text, expected="\n".join(expected), answer=answer
        )
        try:
            reply = retry.retrying()(lambda: self._model.invoke([HumanMessage(asked)]))
        except Exception as error:  # noqa: BLE001 - one answer goes unjudged, the others do not
            return Verdict(None, f"the judge failed: {redact(retry.describe(error))}")
        text = " ".join(answer_text(reply).split())
        found = _VERDICT.match(text)
        if found is None:
            said = f"{text[:_SHOWN]!r}" if text else "nothing"
            return Verdict(None, f"the judge gave no verdict, it said {said}")
        return Verdict(found[1].lower() == "yes", f"judge: {found[2][:_SHOWN]}".rstrip(": "))
