"""A prompt as a run has it: what its settings give in its place, else its file as it is now."""

from collections.abc import Callable, Collection

from graphs.context import Context
from graphs.node import Scope
from graphs.prompt_settings import PLACES
from graphs.waiting import Steps, Wait
from prompts import Template, parse, prompt_file

MOST_KEPT = 16
"""Texts that stay parsed: each run may give one of its own."""


def _as_it_is(template: Template) -> Template:
    return template


class PromptOfRun:
    """Gives the prompt of a run, parsed once for each text.

    Args:
        file: The prompt's name in `prompts/`.
        context: The variant's settings, of which one may give another text.
        names: The places that it must have.
        finish: Makes what is used of the parsed text, such as with a list of tools.
        check: Looks at a parsed text, and raises a `TemplateError` where it can't be used.

    Raises:
        TemplateError: The file is missing or wrong.
    """

    def __init__(
        self,
        file: str,
        context: type[Context],
        *,
        names: Collection[str] = PLACES,
        finish: Callable[[Template], Template] = _as_it_is,
        check: Callable[[Template], object] = _as_it_is,
    ) -> None:
        self._file = prompt_file(file)
        self._names, self._finish, self._check = names, finish, check
        self._setting = next(
            (name for name, setting in context.prompt_settings.items() if setting.file == file),
            None,
        )
        self._look = Wait(self._file.look, self._file.alook)
        self._parsed: dict[str, Template] = {}
        self._of(self._file.look(), self._file.source)

    def now(self, scope: Scope) -> Steps[Template]:
        """Return it; the same text is the same object.

        Raises:
            TemplateError: The file was edited since, and is wrong.
        """
        given = getattr(scope.context, self._setting, "") if self._setting else ""
        if given:
            return self._of(given, self._setting or "")
        text = yield self._look
        return self._of(text, self._file.source)

    def _of(self, text: str, source: str) -> Template:
        found = self._parsed.get(text)
        if found is None:
            parsed = parse(text, names=self._names, source=source)
            self._check(parsed)
            found = self._finish(parsed)
            while len(self._parsed) >= MOST_KEPT:
                self._parsed.pop(next(iter(self._parsed)), None)
            self._parsed[text] = found
        return found


class FixedPrompt:
    """A prompt that its author wrote into the code.

    Args:
        template: It.
    """

    def __init__(self, template: Template) -> None:
        self._template = template

    def now(self, scope: Scope) -> Steps[Template]:  # noqa: ARG002
        """Return it."""
        yield from ()
        return self._template
