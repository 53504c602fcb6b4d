"""A group's committed offset is the one that was committed last.

`store` commits an offset for a partition of a group, `recall` asks for it. What is recalled is what
the last known commit stored, or what one stored that was under way meanwhile, or one whose end is
unknown. -1 stands for no committed offset, which is right only where none is known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex
from touchstone.harness.model.history import Operation

NONE = -1


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    stores: dict[tuple[str, str], list[Operation]] = defaultdict(list)
    recalls: list[Operation] = []
    for each in seen.history.of("store", "recall"):
        if each.do == "recall" and each.outcome == "ok":
            recalls.append(each)
        elif each.do == "store" and each.outcome != "fail":
            for name in each.asked["offsets"]:
                stores[each.asked["group"], name].append(each)
    for recall in recalls:
        for name, offset in recall.told["offsets"].items():
            known = stores[recall.asked["group"], name]
            possible, last = _possible(known, recall, name)
            if offset not in possible:
                text = f"{recall.asked['group']} recalled {offset}, not {_words(possible)}"
                yield Anomaly(name, text, (last, recall) if last else (recall,))


def _possible(
    stores: list[Operation], recall: Operation, name: str
) -> tuple[set[int], Operation | None]:
    """What the recall may give, and the commit that was the last for certain."""
    done = [s for s in stores if s.outcome == "ok" and s.before(recall)]
    last = max(done, key=lambda store: store.ended, default=None)
    possible = {last.asked["offsets"][name]} if last else {NONE}
    for each in stores:
        unsure = each.outcome == "unknown" or not each.before(recall)
        beside = last is not None and each.outcome == "ok" and not each.before(last)
        if each.began < recall.ended and (unsure or (beside and each is not last)):
            possible.add(each.asked["offsets"][name])
    return possible, last


def _words(offsets: set[int]) -> str:
    return " or ".join(map(str, sorted(offsets)))
