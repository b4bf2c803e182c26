"""A trace whose questions executors answer."""

import os

from pyspark.sql import SparkSession

from trackway.errors import QuestionError
from trackway.questions import Option, Progress, Questions, words_of
from trackway.tables import Report

from .division import Question, divide

DISTRIBUTED = ("layout", "report", "reuse", "sharing")


class SparkTrace(Questions):
    """Asks what a `trackway.Trace` is asked, and divides the work between the executors of a session.

    `misses`, `layout`, `sharing` and `reuse` find what they find on one machine, to the last digit; proposals of `layout` are
    not simulated, as with `no_simulate=True`. The other analyses need all of a trace in one process; `trackway.open` has
    them.
    """

    def __init__(self, spark: SparkSession, path: str | os.PathLike[str], partitions: int | None = None) -> None:
        self._spark = spark
        self._path = os.path.abspath(path)
        self._partitions = partitions

    def ask(self, verb: str, *, progress: Progress | None = None, **options: Option) -> Report:
        """Asks by the name of the verb. `threads` and `progress` mean nothing to executors.

        Raises:
            QuestionError: an option is unknown or wrong, the trace doesn't hold what the question is about, or the
                work of the analysis can't be divided.
        """
        if verb not in DISTRIBUTED:
            known = ", ".join(DISTRIBUTED)
            raise QuestionError(f"the work of {verb} can't be divided; that of {known} can: ask trackway.open(path)")
        options.pop("threads", None)
        words = ("--json", *words_of(options))
        return Report(divide(self._spark, Question(self._path, verb, words), self._partitions))

    def __repr__(self) -> str:
        return f"trackway.spark.open(spark, {self._path!r})"


def open(spark: SparkSession, path: str | os.PathLike[str], partitions: int | None = None) -> SparkTrace:
    """A trace whose questions the executors of a session answer.

    Args:
        path: of the trace, on all machines.
        partitions: into about how many tasks work is divided; by default three for each that the cluster runs at once.
    """
    return SparkTrace(spark, path, partitions)
