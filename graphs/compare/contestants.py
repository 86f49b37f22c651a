"""A graph with a model, which is put questions to."""

import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langgraph.graph.state import CompiledStateGraph

from graphs import models
from graphs.compare.checks import Verdict, check
from graphs.compare.judging import Judge
from graphs.compare.questions import Question
from graphs.compare.rows import Row, answer_of, failed_row, judged_row, row_of
from graphs.variants import GRAPHS
from tools import redact
from tools.results import describe_error

SCRIPTED = "scripted:"
NO_ANSWER = Verdict(correct=False, why="there is no answer")


class Contestant(NamedTuple):
    """A graph and the name of the model that it runs on."""

    graph: str
    model: str


class Stage:
    """Where contestants answer: each graph is built once a model, and asked by several threads.

    A run has no saver and is read-only: what would change something is answered with an error, and
    nothing of a comparison is left behind but its rows.

    Args:
        tools: Tools for every graph; None takes each graph's own.
        judge: Who decides about the answers whose `check` is `judge`.
        given: Models by name, instead of those that the names say.
    """

    def __init__(
        self,
        *,
        tools: Sequence[Any] | None = None,
        judge: Judge | None = None,
        given: dict[str, BaseChatModel] | None = None,
    ) -> None:
        self._tools, self._judge, self._given = tools, judge, given or {}
        self._built: dict[Contestant, CompiledStateGraph[Any, Any, Any, Any]] = {}
        self._lock = threading.Lock()

    def ask(self, contestant: Contestant, question: Question) -> Row:
        """Put a question to a contestant; whatever goes wrong is a row."""
        started = time.perf_counter()
        name, model = contestant
        try:
            graph = self._graph(contestant)
            asked = {"messages": [{"role": "user", "content": question.text}]}
            result = graph.invoke(asked, context={"read_only": True})
        except Exception as error:  # noqa: BLE001 - one run that raises is a row, not the end
            reason = redact(" ".join(describe_error(error).split()))
            return failed_row(question, name, model, reason, time.perf_counter() - started)
        verdict = self._verdict(question, answer_of(result))
        return row_of(question, name, model, result, verdict)

    def judge(self, question: Question, row: Row) -> Row:
        """Judge the answer of a run that went unjudged; it is not run again."""
        return judged_row(row, self._verdict(question, row["answer"]))

    def _verdict(self, question: Question, answer: str | None) -> Verdict:
        if not answer:
            return NO_ANSWER
        if question.check != "judge":
            return check(question, answer)
        if self._judge is None:
            return Verdict(None, "there is no judge")
        return self._judge.check(question, answer)

    def _graph(self, contestant: Contestant) -> CompiledStateGraph[Any, Any, Any, Any]:
        with self._lock:
            built = self._built.get(contestant)
            if built is None:
                model = self._given.get(contestant.model) or resolved(contestant.model)
                builder = GRAPHS[contestant.graph].build(model=model, tools=self._tools)
                built = builder.compile(name=contestant.graph)
                if not contestant.model.startswith(SCRIPTED):
                    self._built[contestant] = built
            return built


def resolved(name: str) -> BaseChatModel:
    """Return the model of a name; a script is a new one, replayed from its beginning, each time.

    Raises:
        ModelError: There is no such model, or it can't be used as it is configured.
    """
    if name.startswith(SCRIPTED):
        return models.ScriptedModel.from_file(name.removeprefix(SCRIPTED))
    return models.resolve(name)
