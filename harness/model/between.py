"""Releases between those that are recorded in every version of an API and have a persona.

Of each of them one case a claim is recorded, that of the newest version. Claims are written for the
releases with a persona: their steps and what they expect may differ from one to the next. So a case
of 3.6 is written as for the release after it (3.9), or as for the one before (2.8) where Kafka 3.6
does not do what the claim says of 3.9; as for 3.6 itself where the claim names it. Which one it is,
real Kafka decides when the case is recorded, and the recording keeps it: so it also says by which
release a behaviour had changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from touchstone.harness.model import advertised
from touchstone.harness.model.advertised import Table
from touchstone.harness.model.claim import CaseId, Claim
from touchstone.harness.model.recordings import Store


def ways(release: str) -> tuple[str, ...]:
    """Return the releases as for which a case of a release between may be written, in the order in
    which they are tried.
    """
    return (*advertised.neighbours(release), release)


def as_for(claim: Claim, like: str, table: Table) -> list[CaseId]:
    """Return the one case of a claim, written as for `like`, for a release between that advertises
    `table`; none if the claim has none.
    """
    found = claim.cases(like, table)
    newest = max(range(len(found)), key=lambda at: (found[at].version or 0, at), default=None)
    return [] if newest is None else [replace(found[newest], like=like)]


def recorded(claim: Claim, store: Store, table: Table) -> list[CaseId]:
    """Return the case of a claim that is recorded of a release between."""
    written = store.written(claim.suite)
    return [
        case
        for like in ways(store.release)
        for case in as_for(claim, like, table)
        if case.id in written and written[case.id].like == like
    ]


def names(claim: Claim, release: str, table: Table) -> Iterator[str]:
    """Yield the ids under which a case of a claim may be recorded of a release between."""
    for like in ways(release):
        yield from (case.id for case in as_for(claim, like, table))


def counts(store: Store) -> str:
    """Return how many cases are recorded of a release between, in words; "" if none is."""
    written = [one for suite in sorted(store.suites()) for one in store.written(suite).values()]
    by = Counter(one.like for one in written)
    each = ", ".join(f"{number:,} as for {like}" for like, number in by.most_common())
    same = sum(bool(one.same) for one in written)
    return f"{len(written):,} cases, {each}; {same:,} are answered as there" if written else ""
