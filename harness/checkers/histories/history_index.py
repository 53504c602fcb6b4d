"""A history looked at once: who sent which value, and where whoever read it found it.

Every property asks the same few questions; answering them from one pass keeps the whole judgement
linear in the operations. Partitions are named `topic-index`, as in a history's records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from touchstone.harness.model.history import History, Operation, place

READ_COMMITTED = "read_committed"
ALL = -1  # acks
COMPACT, NO_KEYS = "compact", "the topic is compacted and the history names no keys"


@dataclass(slots=True)
class Transaction:
    """The sends of one transaction and whoever asked to end it."""

    name: str
    sends: list[Operation] = field(default_factory=list)
    stores: list[Operation] = field(default_factory=list)  # that were not refused
    commit: Operation | None = None
    abort: Operation | None = None

    @property
    def committed(self) -> bool:
        return self.commit is not None and self.commit.outcome == "ok"


@dataclass(slots=True)
class Drain:
    """A partition read from `start` to its end `end`, and what was found there."""

    operation: Operation
    place: str
    committed: bool
    start: int
    end: int
    found: set[tuple[int, str]] = field(default_factory=set)
    values: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Move:
    """A process was given one offset of a partition after another, or after it sought there.

    `first` gave `before`, or is the seek to the offset behind it; None where nothing is known of
    the position: at the beginning, and after a rebalance of the process's group.
    """

    place: str
    before: int
    first: Operation | None
    offset: int
    second: Operation

    @property
    def committed(self) -> bool:
        return self.second.asked.get("isolation") == READ_COMMITTED

    @property
    def given(self) -> bool:
        """Whether `before` was given to the process, not sought by it."""
        return self.first is not None and self.first.do == "poll"


@dataclass(slots=True)
class Landing:
    """A send whose offset is known, as its producer was told it or as somebody read it; from
    the line `known` on the record was in the log.
    """

    send: Operation
    offset: int
    known: int

    @property
    def value(self) -> str:
        return str(self.send.asked["value"])


@dataclass(slots=True)
class Partition:
    """What is known of one partition: who was told which offset, who read what there."""

    name: str
    sends: list[Operation] = field(default_factory=list)  # acknowledged with an offset
    # offset -> value -> the first poll that read it
    reads: dict[int, dict[str, Operation]] = field(default_factory=lambda: defaultdict(dict))
    committed_reads: dict[int, dict[str, Operation]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    drains: list[Drain] = field(default_factory=list)


class HistoryIndex:
    """The index of a history."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.unclean = bool(history.promised.get("unclean"))
        self.compacted = COMPACT in str(history.promised.get("cleanup.policy", ""))
        self.release = _release(history.promised.get("release"))
        self.sends: dict[str, Operation] = {}
        self.transactions: dict[str, Transaction] = {}
        self.partitions: dict[str, Partition] = {}
        self.found: dict[str, set[tuple[str, int]]] = defaultdict(set)  # value -> places, offsets
        self.found_committed: set[str] = set()  # values that a read_committed reader was given
        self.by_process: dict[str, list[Operation]] = defaultdict(list)
        for each in history.operations:
            take = _TAKE.get(each.do)
            if take is not None:
                take(self, each)
        for partition in self.partitions.values():
            partition.sends.sort(key=lambda send: send.began)
        self._fill_drains()

    def partition(self, name: str) -> Partition:
        if name not in self.partitions:
            self.partitions[name] = Partition(name)
        return self.partitions[name]

    def drains_of(self, name: str) -> list[Drain]:
        return self.partition(name).drains

    @cached_property
    def offsets_read(self) -> dict[tuple[str, bool], list[int]]:
        """(partition, committed only) -> the offsets somebody read, in order."""
        return {
            (name, committed): sorted(reads)
            for name, partition in self.partitions.items()
            for committed, reads in ((False, partition.reads), (True, partition.committed_reads))
        }

    @cached_property
    def moves(self) -> list[Move]:
        """Every step from one offset to the next of each process in each partition."""
        found: list[Move] = []
        for operations in self.by_process.values():
            last: dict[str, tuple[int, Operation]] = {}
            for each in operations:
                if each.do == "join":  # the group says where its members go on
                    last.clear()
                elif each.do == "seek":
                    where = place(each.asked["topic"], each.asked["partition"])
                    last[where] = each.asked["offset"] - 1, each
                for name, rows in each.told.get("records", {}).items():
                    for offset, _ in rows:
                        before, first = last.get(name, (offset - 1, None))
                        found.append(Move(name, before, first, offset, each))
                        last[name] = offset, each
        return found

    @cached_property
    def passing(self) -> dict[str, list[Move]]:
        """Partition -> the moves that left offsets out."""
        found: dict[str, list[Move]] = defaultdict(list)
        for move in self.moves:
            if move.offset > move.before + 1:
                found[move.place].append(move)
        return found

    @cached_property
    def landings(self) -> dict[str, list[Landing]]:
        """Partition -> its sends whose offset is known, in the order in which they began."""
        found: dict[str, list[Landing]] = defaultdict(list)
        for send in self.sends.values():
            where = place(send.asked["topic"], send.asked["partition"])
            landing = self.landing(send, where)
            if landing is not None:
                found[where].append(landing)
        for landings in found.values():
            landings.sort(key=lambda landing: landing.send.began)
        return found

    def landing(self, send: Operation, where: str) -> Landing | None:
        """Return where a send of this partition came to stand; None where nobody can know."""
        value, told = send.asked["value"], send.told.get("offset", -1)
        places = self.found.get(value, set())
        if send.outcome == "ok" and told >= 0:
            return Landing(send, told, send.ended)
        if send.outcome == "fail" or len(places) != 1:
            return None
        name, offset = min(places)
        poll = self.partitions[name].reads[offset][value]
        return Landing(send, offset, poll.ended) if name == where else None

    @cached_property
    def _by_key(self) -> dict[tuple[str, str], list[Operation]]:
        found: dict[tuple[str, str], list[Operation]] = defaultdict(list)
        for send in self.sends.values():
            if send.outcome != "fail" and send.asked.get("key") is not None:
                where = place(send.asked["topic"], send.asked["partition"])
                found[where, send.asked["key"]].append(send)
        return found

    def compaction_of(self, value: str, until: Operation) -> str:
        """Return why compaction may have removed this value before `until` ended, or ""."""
        send = self.sends.get(value)
        if not self.compacted or send is None:
            return ""
        if send.asked.get("key") is None:
            return NO_KEYS
        where = place(send.asked["topic"], send.asked["partition"])
        here = self.landing(send, where)
        for other in self._by_key[where, send.asked["key"]]:
            there = self.landing(other, where)
            later = here is None or there is None or there.offset > here.offset
            if other is not send and other.began < until.ended and later:
                return f"{other.asked['value']} has its key and came later"
        return ""

    @cached_property
    def newest_join(self) -> dict[int, Operation | None]:
        """Of each join and store: the join of its group into the highest generation of all that
        were over when it began."""
        moments: list[tuple[int, bool, Operation]] = []
        for each in self.history.of("join", "store"):
            moments.append((each.began, False, each))
            if each.do == "join" and each.outcome == "ok":
                moments.append((each.ended, True, each))
        highest: dict[str, Operation] = {}
        newest: dict[int, Operation | None] = {}
        for _, over, each in sorted(moments, key=lambda moment: moment[0]):
            group = each.asked["group"]
            known = highest.get(group)
            if not over:
                newest[each.number] = known
            elif known is None or known.told["generation"] <= each.told["generation"]:
                highest[group] = each
        return newest

    def transaction_of(self, value: str) -> Transaction | None:
        send = self.sends.get(value)
        name = send.asked.get("transaction") if send else None
        return self.transactions.get(name) if name else None

    def _send(self, op: Operation) -> None:
        self.sends[op.asked["value"]] = op
        name = op.asked.get("transaction")
        if name:
            self._transaction(name).sends.append(op)
        if op.outcome == "ok" and op.told.get("offset", -1) >= 0:
            where = place(op.asked["topic"], op.asked["partition"])
            self.partition(where).sends.append(op)

    def _poll(self, op: Operation) -> None:
        self.by_process[op.process].append(op)
        committed = op.asked.get("isolation") == READ_COMMITTED
        for name, rows in op.told.get("records", {}).items():
            partition = self.partition(name)
            for offset, value in rows:
                partition.reads[offset].setdefault(value, op)
                self.found[value].add((name, offset))
                if committed:
                    partition.committed_reads[offset].setdefault(value, op)
                    self.found_committed.add(value)

    def _step(self, op: Operation) -> None:
        self.by_process[op.process].append(op)

    def _store(self, op: Operation) -> None:
        if op.asked.get("transaction") and op.outcome != "fail":
            self._transaction(op.asked["transaction"]).stores.append(op)

    def _commit(self, op: Operation) -> None:
        self._transaction(op.asked["transaction"]).commit = op

    def _abort(self, op: Operation) -> None:
        self._transaction(op.asked["transaction"]).abort = op

    def _drain(self, op: Operation) -> None:
        if op.outcome != "ok":
            return
        name = place(op.asked["topic"], op.asked["partition"])
        committed = op.asked.get("isolation") == READ_COMMITTED
        drain = Drain(op, name, committed, op.told["from"], op.told["to"])
        self.partition(name).drains.append(drain)

    def _transaction(self, name: str) -> Transaction:
        return self.transactions.setdefault(name, Transaction(name))

    def _fill_drains(self) -> None:
        for drain in self._all_drains():
            op = drain.operation
            for poll in self.by_process[op.process]:
                if op.began < poll.began and poll.ended < op.ended:
                    rows = poll.told.get("records", {}).get(drain.place, ())
                    drain.found.update((offset, value) for offset, value in rows)
            drain.values = {value for _, value in drain.found}

    def _all_drains(self) -> Iterator[Drain]:
        return (drain for each in list(self.partitions.values()) for drain in each.drains)


def _release(text: object) -> tuple[int, ...] | None:
    """Return the release that the history names, as numbers; None if it names none."""
    parts = str(text).split(".") if text else []
    return tuple(map(int, parts[:2])) if len(parts) > 1 and all(map(str.isdigit, parts)) else None


_TAKE = {
    "send": HistoryIndex._send,
    "poll": HistoryIndex._poll,
    "seek": HistoryIndex._step,
    "join": HistoryIndex._step,
    "store": HistoryIndex._store,
    "commit": HistoryIndex._commit,
    "abort": HistoryIndex._abort,
    "drain": HistoryIndex._drain,
}
