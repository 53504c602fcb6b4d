"""A script made as small as it can be while the same complaint is made about it.

The order is: steps, then fields, then records, then bytes. Each kind of part is one module; all of
them ask one `Search`, which counts the runs of the target and ends them at a limit. What is left
out or made simpler is found by delta debugging (`search.smallest`, after Zeller and Hildebrandt,
2002), level by level of the tree that the schema describes (Misherghi and Su, "HDD", 2006): an
array that the complaint does not need is gone in one run, whatever it holds.

Lengths, counts and checksums around a change are made right, so that what is left is the fault and
not a frame that cannot be read. A checksum or a length that was wrong stays wrong by as much.
Pure: `holds` is what sends.

How to write another part
-------------------------

A part is a function of the search and the number of a step. It builds candidates and gives each to
`search.accepts`; it returns nothing, since what was accepted is `search.best`. Six rules keep such
parts cheap and their results equal from run to run.

1. A candidate costs a run: the target is put in order, every step is sent and waited for. So try
   the largest reduction first (nothing of it, then halves), single items last. `smallest` does
   that.
2. Nothing is drawn. Two runs over one finding write the same file, and whoever looks for what
   changed between two nights reads a diff. Random orders avoid long rows of refusals, but cost
   that.
3. All subsets that one `smallest` asks about are subsets of one base, taken before it begins.
   Whoever builds the next candidate from `search.best` counts in a list that an acceptance made
   shorter.
4. Before a structure is changed, it is written anew unchanged (`fields.simpler`,
   `_simpler_piece`). If that alone ends the complaint, it is about how the bytes say it, an
   over-long varint or a count that lies, and only bytes may be left out of it.
5. Every candidate is simpler than what it replaces: a step, an element or a byte less, or a field
   one place earlier in `fields.options`. So there is an end, with or without a limit.
6. There is one round from coarse to fine, not a search for a fixed point. What is fine makes one
   thing superfluous that is coarse: the step whose answer a field no longer refers to. Steps are
   therefore asked about again at the end, and nothing else is.

A new part is a module, its call in `minimised` (behind what takes more away in one run), a case in
`tests/test_minimise.py`, and a finding of `tests/seeded.py` that is too large without it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from touchstone.fuzz.minimise import fields, frame_bytes, steps
from touchstone.fuzz.minimise.search import Search, Spent
from touchstone.fuzz.script import Script

RUNS = 200
"""Runs of the target that one finding may cost: seconds on a real broker, not minutes."""


def minimised(script: Script, holds: Callable[[Script], bool], limit: int = RUNS) -> Search:
    """The search that is done: `best` is the smallest script for which `holds` was true, at worst
    the one that was given; `runs` is how often `holds` was asked, at most `limit`. `holds` raises
    Spent when nothing may be run any more.
    """
    search = Search(script, holds, limit)
    with contextlib.suppress(Spent):
        make_small(search)
    return search


def make_small(search: Search) -> None:
    """All parts in their order. Raises Spent."""
    steps.fewer(search)
    steps.one_connection(search)
    # From the last step to the first: the complaint is about the last, and those before it only
    # have to do for it what they did.
    for number in reversed(range(len(search.best.steps))):
        if not fields.simpler(search, number):
            frame_bytes.shorter(search, number)
    steps.fewer(search)
