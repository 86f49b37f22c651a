"""A comparison: every question to every contestant, side by side, what is finished kept."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from graphs.compare.contestants import Contestant, Stage
from graphs.compare.journal import Journal, NotKeptError, key_of
from graphs.compare.questions import Question
from graphs.compare.rows import NOT_JUDGED, Row

Progress = Callable[[int, int], None]
"""Called with (rows finished, rows in all)."""


class StoppedError(Exception):
    """The comparison was stopped; what was finished is kept.

    Attributes:
        finished: Rows that are kept.
        total: Rows in all.
    """

    def __init__(self, finished: int, total: int) -> None:
        super().__init__(f"{finished} of {total} rows")
        self.finished, self.total = finished, total


class Comparison:
    """Every question put to every contestant.

    It keeps true that
    * a row that the journal has is not asked for again, and one is added as its run ends; of one
      that went unjudged, the judge alone is asked again; one that failed is run again;
    * a stop starts nothing more and loses nothing that was finished.

    Args:
        questions: The questions.
        contestants: Graphs with their models, lowest rung first.
        stage: Where they answer.
        journal: What is finished.
        setting: What else decides about an answer: code, documents, tools.
        judge: The name of the judge, which decides about the answers that it judges.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        contestants: Sequence[Contestant],
        stage: Stage,
        journal: Journal,
        setting: Mapping[str, Any],
        *,
        judge: str | None = None,
    ) -> None:
        self._stage, self._journal = stage, journal
        # By question first, so that a comparison that is stopped has whole questions to show.
        self._tasks = {
            key_of({**setting, **_decides(question, judge), **contestant._asdict()}): (
                contestant,
                question,
            )
            for question in questions
            for contestant in contestants
        }

    @property
    def total(self) -> int:
        """How many rows there will be."""
        return len(self._tasks)

    @property
    def finished(self) -> int:
        """How many rows there are."""
        return sum(map(self._is_finished, self._tasks))

    def _is_finished(self, key: str) -> bool:
        """Tell whether a row is there to stay: what failed, or went unjudged, is not."""
        row = self._journal.rows.get(key)
        return row is not None and row["outcome"] not in {"failed", NOT_JUDGED}

    def _ask(self, key: str) -> Row:
        contestant, question = self._tasks[key]
        before = self._journal.rows.get(key)
        if before is not None and before["outcome"] == NOT_JUDGED:
            return self._stage.judge(question, before)
        return self._stage.ask(contestant, question)

    def run(self, jobs: int, on_progress: Progress | None = None) -> list[Row]:
        """Ask what is not finished, so many at once, and return all rows in order.

        Raises:
            StoppedError: Ctrl-C.
            NotKeptError: A row can't be written; those before it are.
        """
        open_tasks = [key for key in self._tasks if not self._is_finished(key)]
        done = self.total - len(open_tasks)
        tell = on_progress or (lambda _done, _total: None)
        tell(done, self.total)
        running: dict[Future[Row], str] = {}
        try:
            with _pool(jobs) as pool:
                for key, row in self._each(pool, iter(open_tasks), running, 2 * jobs):
                    self._keep(key, row, done)
                    done += 1
                    tell(done, self.total)
        except KeyboardInterrupt:
            self._keep_ended(running)
            raise StoppedError(self.finished, self.total) from None
        return [self._journal.rows[key] for key in self._tasks]

    def _keep_ended(self, running: Mapping[Future[Row], str]) -> None:
        """Keep the rows of runs that ended before a stop, and that nobody had come to yet."""
        for future, key in running.items():
            if not future.done() or future.cancelled() or future.exception() is not None:
                continue
            if (row := future.result()) is not self._journal.rows.get(key):
                self._keep(key, row, self.finished)

    def _keep(self, key: str, row: Row, before: int) -> None:
        try:
            self._journal.add(key, row)
        except OSError as error:
            raise NotKeptError(self._journal.path, error, before, self.total) from None

    def _each(
        self,
        pool: ThreadPoolExecutor,
        keys: Iterator[str],
        running: dict[Future[Row], str],
        most: int,
    ) -> Iterator[tuple[str, Row]]:
        """Yield rows as their runs end, with at most so many runs handed out.

        Those whose rows are not taken yet are in `running`.
        """
        while True:
            while len(running) < most and (key := next(keys, None)) is not None:
                running[pool.submit(self._ask, key)] = key
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running[future], future.result()
                del running[future]


def _decides(question: Question, judge: str | None) -> dict[str, Any]:
    """Return what of a question decides about its rows: the judge, where it is asked."""
    return {**asdict(question), "judge": judge if question.check == "judge" else None}


@contextmanager
def _pool(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Lend a pool of threads; where its block is left by an exception, nobody waits for them."""
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="rungs-compare")
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
