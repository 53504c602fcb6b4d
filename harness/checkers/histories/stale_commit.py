"""A group's committed offset is the one that was committed last.

`store` commits an offset for a partition of a group, `recall` asks for it. What is recalled is what
the last known commit stored, or what one stored that was under way meanwhile, or one whose end is
unknown. -1 stands for no committed offset, which is right only where none is known. A store of a
transaction counts when that is committed, and never if it is not (KIP-98).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex
from touchstone.harness.model.history import Operation

NONE = -1


@dataclass(slots=True)
class Kept:
    """A store of one offset as it counts: from the line `began` on, for certain from `ended` on.

    `asked` is where its request began: of two stores the later one stays, whichever counted first.
    """

    operation: Operation
    offset: int
    asked: int
    began: int
    ended: int
    sure: bool


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    stores: dict[tuple[str, str], list[Kept]] = defaultdict(list)
    recalls: list[Operation] = []
    for each in seen.history.of("store", "recall"):
        if each.do == "recall" and each.outcome == "ok":
            recalls.append(each)
        elif each.do == "store" and (span := _span(seen, each)) is not None:
            for name, offset in each.asked["offsets"].items():
                stores[each.asked["group"], name].append(Kept(each, offset, each.began, *span))
    right: dict[tuple[str, str], Operation] = {}  # the last recall that gave what it may
    wrong: list[tuple[tuple[str, str], Anomaly, str]] = []
    for recall in recalls:
        for name, offset in recall.told["offsets"].items():
            key = recall.asked["group"], name
            possible, last = _possible(stores[key], recall)
            if offset in possible:
                right[key] = recall
                continue
            text = f"{recall.asked['group']} recalled {offset}, not {_words(possible)}"
            told = (last.operation, recall) if last else (recall,)
            kept = any(s.sure and s.offset == offset and s.began < recall.ended
                       for s in stores[key])  # fmt: skip
            wrong.append((key, Anomaly(name, text, told), _excuse(seen, recall) if kept else ""))
    for key, anomaly, excuse in wrong:
        recall = anomaly.operations[-1]
        if key in right and recall.before(right[key]):  # else what was stored is forgotten
            anomaly.excuse = excuse
        yield anomaly


def _excuse(seen: HistoryIndex, recall: Operation) -> str:
    """Return why this recall may be told an offset that was committed before, for a while.

    Before 4.0 a coordinator answers from memory, also one that is cut off and has not heard that
    the group is another's (GroupCoordinator.handleFetchOffsets@1.0.2 to 3.9.0); from 4.0 on that is
    so for who does not ask for what is stable (GroupCoordinatorService.fetchOffsets@4.3.1).
    """
    if seen.release is not None and seen.release < (4, 0):
        return "a coordinator that was cut off answers from memory before 4.0"
    if recall.asked.get("stable") is False:
        return "who does not ask for what is stable is answered from below the high watermark"
    return ""


def _span(seen: HistoryIndex, store: Operation) -> tuple[int, int, bool] | None:
    """Return (began, ended, sure) of what makes the store count: itself, or the commit of its
    transaction. None where it does not count.
    """
    if store.outcome == "fail":
        return None
    name = store.asked.get("transaction")
    if not name:
        return store.began, store.ended, store.outcome == "ok"
    transaction = seen.transactions.get(name)
    commit = transaction.commit if transaction else None
    if commit is None or commit.outcome == "fail":
        return None
    return commit.began, commit.ended, store.outcome == commit.outcome == "ok"


def _possible(stores: list[Kept], recall: Operation) -> tuple[set[int], Kept | None]:
    """Return what the recall may give, and the commit that was the last for certain."""
    done = [s for s in stores if s.sure and s.ended < recall.began]
    last = max(done, key=lambda store: store.ended, default=None)
    possible = {last.offset} if last else {NONE}
    for each in stores:
        unsure = not each.sure or each.ended >= recall.began
        beside = last is not None and each is not last and each.ended >= last.asked
        if each.began < recall.ended and (unsure or beside):
            possible.add(each.offset)
    return possible, last


def _words(offsets: set[int]) -> str:
    return " or ".join(map(str, sorted(offsets)))
