"""A script made as small as it can be while the same complaint is made about it.

The order is: steps, then fields, then records, then bytes. Each kind of part is one module; all of
them ask one `Search`, which counts the runs of the target and ends them at a limit. What is left
out or made simpler is found by delta debugging (`search.smallest`, after Zeller and Hildebrandt,
2002), level by level of the tree that the schema describes (Misherghi and Su, "HDD", 2006): an
array that nobody needs is gone in one run, whatever it holds.

Lengths, counts and checksums around a change are made right, so that what is left is the fault and
not a frame that nobody can read. A checksum or a length that was wrong stays wrong by as much.
Pure: `holds` is what sends.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.fuzz.minimise import fields, frame_bytes, steps
from touchstone.fuzz.minimise.search import Search
from touchstone.fuzz.script import Script

RUNS = 200
"""Runs of the target that one finding may cost: seconds on a real broker, not minutes."""


def minimised(script: Script, holds: Callable[[Script], bool], limit: int = RUNS) -> Search:
    """The search that is done: `best` is the smallest script for which `holds` was true, at worst
    the one that was given; `runs` is how often `holds` was asked, at most `limit`.
    """
    search = Search(script, holds, limit)
    steps.fewer(search)
    steps.one_connection(search)
    # From the last step to the first: the complaint is about the last, and those before it only
    # have to do for it what they did.
    for number in reversed(range(len(search.best.steps))):
        if not fields.simpler(search, number):
            frame_bytes.shorter(search, number)
    steps.fewer(search)
    return search
