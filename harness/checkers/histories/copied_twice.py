"""What was copied in a transaction that is committed is not copied again.

Exactly once (KIP-98, KIP-447): a copier reads an input, sends what becomes of it and stores the
input's offset, all in one transaction; who goes on after it begins at the stored offset. So no two
committed transactions hold copies of one input (`copy_of` of a send names it), and none stores a
lower offset than one that was committed before it began, nor no higher offset of anything and sends
all the same. Copies outside transactions are made at least once.
"""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.harness.checkers.histories.anomaly import Anomaly
from touchstone.harness.checkers.histories.history_index import HistoryIndex, Transaction
from touchstone.harness.model.history import Operation

Stored = dict[tuple[str, str], int]  # by group and partition


def check(seen: HistoryIndex) -> Iterator[Anomaly]:
    yield from _same_input(seen)
    yield from _offsets_again(seen)


def _same_input(seen: HistoryIndex) -> Iterator[Anomaly]:
    first: dict[str, Operation] = {}
    for value, send in seen.sends.items():
        source, transaction = send.asked.get("copy_of"), seen.transaction_of(value)
        if source is None or send.outcome == "fail":
            continue
        if transaction is None or not _committed(seen, transaction):
            continue
        other = first.setdefault(source, send)
        if other is not send and other.asked["transaction"] != send.asked["transaction"]:
            text = f"{source} was copied as {other.asked['value']} and as {value}"
            yield Anomaly(send.asked["topic"], text, (other, send))


def _offsets_again(seen: HistoryIndex) -> Iterator[Anomaly]:
    """Each transaction's stores against the highest of those committed before it began."""
    committed = [t for t in seen.transactions.values() if t.stores and _committed(seen, t)]
    ended = sorted(committed, key=_end)
    highest: dict[tuple[str, str], tuple[int, Operation]] = {}
    at = 0
    for each in sorted(committed, key=_begin):
        while at < len(ended) and _end(ended[at]) < _begin(each):
            for key, offset in _stored(ended[at]).items():
                if key not in highest or offset >= highest[key][0]:
                    highest[key] = offset, ended[at].stores[-1]
            at += 1
        before = {key: highest[key] for key in _stored(each) if key in highest}
        again = [key for key, offset in _stored(each).items() if _again(before, key, offset)]
        none_new = len(again) == len(_stored(each)) and bool(each.sends)
        for group, name in again:
            offset, (was, store) = _stored(each)[group, name], before[group, name]
            if not _sought(seen, each, name) and (offset < was or none_new):
                text = f"{group} stored {offset} in transaction {each.name} after {was}"
                yield Anomaly(name, text, (store, each.stores[-1]))


def _again(before: dict[tuple[str, str], tuple[int, Operation]], key: tuple[str, str],
           offset: int) -> bool:  # fmt: skip
    return key in before and offset <= before[key][0]


def _committed(seen: HistoryIndex, transaction: Transaction) -> bool:
    """Whether it is, for certain: its commit is known, or a reader of what is committed saw it."""
    values = {send.asked["value"] for send in transaction.sends}
    return transaction.committed or bool(values & seen.found_committed)


def _stored(transaction: Transaction) -> Stored:
    return {
        (store.asked["group"], name): offset
        for store in transaction.stores
        for name, offset in store.asked["offsets"].items()
    }


def _begin(transaction: Transaction) -> int:
    return min(each.began for each in (*transaction.sends, *transaction.stores))


def _end(transaction: Transaction) -> int:
    return max((each.ended for each in (transaction.commit,) if each is not None), default=1 << 62)


def _sought(seen: HistoryIndex, transaction: Transaction, name: str) -> bool:
    """Whether who copies went back by itself."""
    process = transaction.stores[-1].process
    return any(
        each.do == "seek" and f"{each.asked['topic']}-{each.asked['partition']}" == name
        for each in seen.by_process[process]
    )
