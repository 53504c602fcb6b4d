"""Work that needs no table: one function applied to many jobs, each a Spark task.

Who has work of this kind (`touchstone fuzz --master`) sees neither pyspark nor where a task runs. A
job and what comes of it are pickled; the function is found by its name, so the workers must be able
to import it: `touchstone` is put on their path as it is on ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import touchstone
from touchstone.harness.spark.session import session

Job = TypeVar("Job")
Done = TypeVar("Done")


class Shards:
    """Spark, ready for jobs."""

    def __init__(self, context: object) -> None:
        self._context = context

    def run(self, task: Callable[[Job], Done], jobs: Sequence[Job]) -> list[Done]:
        """What `task` makes of each job, in the order of the jobs, each in a Spark task of its own.
        A task that raises ends them all, with its exception's text in Spark's.
        """
        context: object = self._context
        if not jobs:
            return []
        spread = context.parallelize(list(jobs), len(jobs))  # type: ignore[attr-defined]
        done: list[Done] = spread.map(task).collect()
        return done


@contextmanager
def shards(scratch: Path, master: str) -> Iterator[Shards]:
    """Spark on `master` for the length of a `with`. Raises NotRun where it cannot start."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # of the workers: what we run on
    with session(scratch, master, app="touchstone fuzz", worker_path=import_path()) as spark:
        yield Shards(spark.sparkContext)


def import_path() -> str:
    """Where workers find `touchstone`: its folder's parent first, then what we were told."""
    mine = str(Path(str(touchstone.__file__)).parent.parent)
    return os.pathsep.join(dict.fromkeys([mine, *filter(None, [os.environ.get("PYTHONPATH")])]))
