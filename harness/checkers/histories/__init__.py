"""What must be true of every history of a Kafka cluster, with faults or without.

One property per file: `check(seen) -> Iterator[Anomaly]`, pure, named after its file with dashes;
the registry is this folder. A checker looks at what clients were told and at nothing else: no
broker, no clock, no log. Its file says which promise it holds the broker to; an anomaly that this
promise does not cover (a write with acks=1 that a fallen leader took with it) carries an `excuse`,
is counted, and breaks nothing.

An operation whose end nobody knows (a timeout) may have happened or not, and is held against the
broker in neither case. Golden histories in `harness/tests/golden/histories` show for each property
one that breaks it and the nearest one that does not; in `test_histories.py` a lie for each turns
any sound history into one that must be refused.

Sources: Jepsen's analyses of Redpanda 21.10.1 and Bufstream 0.1.0 for
the classes (lost write, duplicate, inconsistent offsets, poll skip, non-monotonic poll, aborted
read, torn transaction); KIP-98 for what idempotence and isolation promise.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import ALL, HistoryIndex
from touchstone.harness.model.history import History, place

Check = Callable[[HistoryIndex], Iterator[Anomaly]]

# Modules of this folder that serve checkers and are none.
SHARED = frozenset({"anomaly", "history_index"})
# What no unclean leader election causes: it takes records away, and makes none up. (`aborted_read`
# knows the one way in which it may show what was aborted.)
FIRM = frozenset({"phantom", "aborted-read"})
CONFORMS, DIVERGES, INCONCLUSIVE = "CONFORMS", "DIVERGES", "INCONCLUSIVE"


@cache
def properties() -> dict[str, Check]:
    """Every property by its name."""
    stems = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in SHARED)
    return {
        stem.replace("_", "-"): importlib.import_module(f"{__name__}.{stem}").check
        for stem in stems
    }


@dataclass(slots=True)
class Report:
    """What became of a history: `broken` is illegal, `excused` no promise forbids."""

    history: History
    broken: list[Anomaly] = field(default_factory=list)
    excused: list[Anomaly] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    unread: list[str] = field(default_factory=list)  # partitions written and not read to the end

    @property
    def verdict(self) -> str:
        """INCONCLUSIVE when nothing was written, or something that nobody read to its end."""
        if self.broken:
            return DIVERGES
        judged = self.counts["send ok"] and self.counts["records read"] and self.counts["drain ok"]
        return CONFORMS if judged and not self.unread else INCONCLUSIVE

    def names(self) -> Counter[str]:
        """How often each property is broken."""
        return Counter(each.name for each in self.broken)


def judge(history: History) -> Report:
    """Hold a history against every property."""
    seen = HistoryIndex(history)
    report = Report(history, counts=_counts(history), unread=_unread(seen))
    for name, check in properties().items():
        for anomaly in check(seen):
            anomaly.name = name
            firm = anomaly.firm or name in FIRM
            if not anomaly.excuse and seen.unclean and not firm:
                anomaly.excuse = "unclean leader election is allowed"
            (report.excused if anomaly.excuse else report.broken).append(anomaly)
    return report


def _unread(seen: HistoryIndex) -> list[str]:
    written = {
        place(send.asked["topic"], send.asked["partition"])
        for send in seen.sends.values()
        if send.outcome == "ok" and send.asked.get("acks", ALL)
    }
    return sorted(each for each in written if not seen.drains_of(each))


def _counts(history: History) -> Counter[str]:
    counts: Counter[str] = Counter()
    for each in history.operations:
        counts[f"{each.do} {each.outcome}"] += 1
        if each.do == "poll":
            counts["records read"] += sum(map(len, each.told.get("records", {}).values()))
    return counts
