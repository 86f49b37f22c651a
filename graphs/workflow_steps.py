"""The steps of a workflow, as its author declares them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphs.context import Context
from graphs.errors import UsageError
from graphs.names import is_node_name
from graphs.prompt_of_run import FixedPrompt, PromptOfRun
from graphs.prompt_settings import PLACES
from graphs.system_prompt import SystemPrompt
from prompts import LateList, Template, parse, with_tools
from tools import Contract, ToolSet, tool_set

_TAKEN = {"validate_calls", "approve", "run_tools"}


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a workflow.

    Attributes:
        name: What it is called, and its node.
        prompt: The name of its system prompt, a file in `prompts/`, or the prompt itself, with the
            places `{{company}}` and `{{memory_notes}}`.
        tools: Names of the tools it has; None is every tool whose name begins with `search`, or all
            where there is none. The last step has none: it writes the answer.
    """

    name: str
    prompt: str
    tools: tuple[str, ...] | None = None

    def system_prompt(self, tools: Iterable[Contract], context: type[Context]) -> SystemPrompt:
        """Return its prompt, its list of tools true to those it has.

        Args:
            tools: Those it has.
            context: The variant's settings, of which one may give another text for a file's.

        Raises:
            TemplateError: The prompt is missing or wrong.
        """

        def finish(template: Template) -> Template:
            if isinstance(tools, OwnTools):
                return LateList.of(template, tools)
            return with_tools(template, list(tools))

        if "{{" in self.prompt:
            template = parse(self.prompt, names=PLACES, source=f"step {self.name}")
            return SystemPrompt(FixedPrompt(finish(template)))
        return SystemPrompt(PromptOfRun(self.prompt, context, finish=finish))

    def own_tools(self, tools: Sequence[Contract]) -> Iterable[Contract]:
        """Choose its tools among the graph's: now, or once servers have listed theirs.

        Raises:
            UsageError: One of them does not exist.
        """
        own = OwnTools(self, tool_set(tools))
        return own.chosen() if own.is_ready else own

    def choose(self, tools: Sequence[Contract]) -> list[Contract]:
        """Choose its tools among those that there are.

        Raises:
            UsageError: One of them does not exist.
        """
        if self.tools is None:
            return [tool for tool in tools if tool.name.startswith("search")] or list(tools)
        by_name = {tool.name: tool for tool in tools}
        given: Any = self.tools
        wanted = [given] if isinstance(given, str) else given
        if missing := [name for name in wanted if name not in by_name]:
            raise UsageError(
                f"step {self.name}: there is no tool {missing[0]!r}; "
                f"there are: {', '.join(by_name)}"
            )
        return [by_name[name] for name in wanted]


class OwnTools:
    """The tools of a step, chosen when they are looked at: servers may list theirs by then.

    Args:
        step: The step.
        tools: The graph's tools.
    """

    def __init__(self, step: Step, tools: ToolSet) -> None:
        self._step, self._tools = step, tools

    @property
    def is_ready(self) -> bool:
        """Whether nobody needs to be asked."""
        return self._tools.is_ready

    @property
    def edition(self) -> int:
        """Goes up whenever the tools have been listed."""
        return self._tools.edition

    def chosen(self) -> list[Contract]:
        """Choose them.

        Raises:
            UsageError: One of them does not exist.
        """
        return self._step.choose(list(self._tools))

    def __iter__(self) -> Iterator[Contract]:
        return iter(self.chosen())


STEPS = (
    Step("retrieve", "workflow_retrieve"),
    Step("retrieve_again", "workflow_retrieve_again"),
    Step("synthesize", "workflow_synthesize", tools=()),
)
"""Retrieve, retrieve with what was found, synthesize: the route that fits two hops."""


def read_steps(steps: Sequence[Any] | None) -> list[Step]:
    """Return the steps of a workflow; a step that comes again gets a number.

    Args:
        steps: `Step` objects, or names of those in `STEPS`; None is `STEPS`.

    Raises:
        UsageError: They are no workflow: one sentence says why.
    """
    shipped = {step.name: step for step in STEPS}
    read: list[Step] = []
    seen: Counter[str] = Counter()
    for given in _listed(STEPS if steps is None else steps):
        step = shipped.get(given, given) if isinstance(given, str) else given
        if not isinstance(step, Step):
            raise UsageError(f"steps holds {given!r}: give a Step, or one of {', '.join(shipped)}")
        if step.name in _TAKEN or not is_node_name(step.name) or not step.name.isidentifier():
            raise UsageError(f"a step can't be called {step.name!r}: take another word for it")
        seen[step.name] += 1
        count = seen[step.name]
        read.append(replace(step, name=f"{step.name}_{count}") if count > 1 else step)
    names = Counter(step.name for step in read)
    if twice := [name for name, count in names.items() if count > 1]:
        raise UsageError(
            f"two steps are called {twice[0]!r}, which a step that comes again is numbered to: "
            "take another word for one"
        )
    if len(read) < 2:  # noqa: PLR2004 - one that looks something up, and one that answers
        raise UsageError("a workflow has at least two steps: one with tools, and one that answers")
    if read[-1].tools != ():
        raise UsageError(f"the last step, {read[-1].name}, must write the answer: give it tools=()")
    return read


def _listed(steps: Any) -> list[Any]:
    """Return the steps as a list; one alone counts as such."""
    if isinstance(steps, str | Step):
        return [steps]
    try:
        return list(steps)
    except TypeError:
        raise UsageError(f"steps is {steps!r}: give a list of steps") from None
