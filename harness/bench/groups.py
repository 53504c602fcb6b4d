"""Rebalances per second of groups of 10, 100 and 1,000 members, and commits per second.

A rebalance is a whole one: every member has subscribed to something else and joins (JoinGroup 9),
all are answered with the new generation, the leader with every subscription; all sync (SyncGroup
5), the leader with everybody's assignment, which the coordinator keeps before it answers. Each
member has a connection. A commit is an OffsetCommit 9 of a member of the generation, answered when
it is kept; each member waits for its answer before it commits again.

The client is one thread that changes a few bytes of frames made beforehand and reads a few bytes of
each answer, so that it is the broker who is measured, and the same client drives both sides. How
busy it was is told (`turn.py`), and what of the broker's own processor each rebalance or commit
took, the one figure here that another's load does not change.
"""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Iterator
from functools import partial

from touchstone.harness.bench.contest import Figure, Options, available_peers
from touchstone.harness.bench.line import Answers, Line, demand, frame
from touchstone.harness.bench.turn import Measure, Meter, Turn, contest
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

MEMBERS = (10, 100, 1_000)
COMMITTERS = ((1, 1), (8, 1), (8, 20))  # members, partitions in each commit
SECONDS, WARM_UP = 5.0, 3  # of measuring, and rebalances before it
WARM_SHARE = 0.2  # of the seconds, commits before those that are measured
QUIET_S, PATIENCE_S = 2.0, 60.0
SESSION_MS = 60_000
TOPIC = "bench-groups"
_SUBSCRIBED, _GENERATION, _OFFSET = b"@subscribed@", 0x0BADCAFE, 0x0BADCAFE_0BADCAFE
_ANSWER = struct.Struct(">i4xBih")  # length, correlation, no tags, throttle, error
_AT = _ANSWER.size
_COMMITTED = struct.Struct(f">13x1x{1 + len(TOPIC)}x1x4xh")  # the first partition's error


def run(options: Options) -> Iterator[Figure]:
    for peer in available_peers(options, logs_in=True):
        for what, deed, measure in _contests():
            yield from contest(options, peer, "groups", what, deed, measure)


def _contests() -> Iterator[tuple[str, str, Measure]]:
    for members in MEMBERS:
        yield (
            f"{members:,} members join and sync", "rebalance",
            partial(rebalances, members=members),
        )  # fmt: skip
    for members, partitions in COMMITTERS:
        yield (
            f"{members} committing, {partitions} partition{'s' * (partitions > 1)} each",
            "commit",
            partial(commits, members=members, partitions=partitions),
        )  # fmt: skip


def rebalances(bootstrap: str, pids: list[int], members: int, seconds: float = SECONDS) -> Turn:
    """Whole rebalances of one group."""
    group = _Group(bootstrap, members)
    for _ in range(WARM_UP):
        group.rebalance()
    meter, done, until = Meter(pids), 0, time.monotonic() + seconds
    while time.monotonic() < until:
        group.rebalance()
        done += 1
    turn = meter.turn(done)
    group.close()
    return turn


def commits(
    bootstrap: str, pids: list[int], members: int, partitions: int, seconds: float = SECONDS
) -> Turn:
    """Commits of all members of one group together."""
    group = _Group(bootstrap, members, partitions)
    group.rebalance()
    frames = [_Patched(group.commit(each, partitions), _long(_OFFSET)) for each in group.members]
    _commit(group, frames, seconds * WARM_SHARE)
    meter = Meter(pids)
    turn = meter.turn(_commit(group, frames, seconds))
    group.close()
    return turn


def _commit(group: _Group, frames: list[_Patched], seconds: float) -> int:
    """How many were answered; each member sends its next one when it has the answer."""
    done, until = 0, time.monotonic() + seconds
    for each, made in zip(group.members, frames, strict=True):
        each.sock.sendall(made.with_(_long(done)))
    waiting = len(group.members)
    while waiting:
        for number in group.ready(PATIENCE_S):
            each = group.members[number]
            for answer in each.answers():
                demand(_COMMITTED.unpack_from(answer)[0], "OffsetCommit")
                done += 1
                if time.monotonic() < until:
                    each.sock.sendall(frames[number].with_(_long(done)))
                else:
                    waiting -= 1
    return done


class _Patched:
    """A frame with a hole where a mark of the same length stands."""

    def __init__(self, made: bytes, mark: bytes) -> None:
        if made.count(mark) != 1:
            raise ValueError(f"{made.count(mark)} places to patch")
        self._head, _, self._tail = made.partition(mark)

    def with_(self, value: bytes) -> bytes:
        return self._head + value + self._tail


class _Member(Answers):
    """A connection of one that has its id, and the frames it sends."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        self.id = ""
        self.join: _Patched
        self.sync: _Patched


class _Group:
    """Members of one group, each told its id and inside when this is made."""

    def __init__(self, bootstrap: str, members: int, partitions: int = 1) -> None:
        self._lines = [Line(bootstrap) for _ in range(members)]
        first = self._lines[0]
        first.create_topic(TOPIC, max(partitions, 1))
        first.until("FindCoordinator", 2, {"key": TOPIC, "key_type": 0})
        self.members = [_Member(line.socket) for line in self._lines]
        self._selector = selectors.DefaultSelector()
        self._owed: set[int] = set()  # members that wait for an answer
        for number, (line, each) in enumerate(zip(self._lines, self.members, strict=True)):
            answer = line.ask("JoinGroup", 9, self._joins(""))
            while answer["error_code"] != ErrorCode.MEMBER_ID_REQUIRED:
                demand(answer["error_code"] * (answer["error_code"] not in _LOADING), "JoinGroup")
                answer = line.ask("JoinGroup", 9, self._joins(""))
            each.id = answer["member_id"]
            each.join = _Patched(frame("JoinGroup", 9, self._joins(each.id)), _SUBSCRIBED)
            each.sync = _Patched(frame("SyncGroup", 5, self._syncs(each.id)), _int(_GENERATION))
            self._selector.register(line.socket, selectors.EVENT_READ, number)
        self.generation, self.rounds = 0, 0
        everybody = [{"member_id": each.id, "assignment": b"a" * 40} for each in self.members]
        self._leads = {
            each.id: _Patched(
                frame("SyncGroup", 5, self._syncs(each.id, everybody)), _int(_GENERATION)
            )
            for each in self.members[:1]
        }
        self._everybody = everybody

    def rebalance(self) -> None:
        """All join, all sync; again where some were late. RuntimeError for any other error."""
        codes = {int(ErrorCode.REBALANCE_IN_PROGRESS)}
        while codes - {0}:
            self.rounds += 1
            answers = self._all_join()
            generations = {struct.unpack_from(">i", answer, _AT)[0] for answer in answers}
            if len(generations) > 1:
                continue
            (self.generation,) = generations
            leader = max(range(len(answers)), key=lambda number: len(answers[number]))
            for number, each in enumerate(self.members):
                sync = self._as_leader(each) if number == leader else each.sync
                self._send(number, sync.with_(_int(self.generation)))
            codes = {_code(answer) for answer in self._collected(PATIENCE_S).values()}
            for code in codes - {ErrorCode.REBALANCE_IN_PROGRESS}:
                demand(code, "SyncGroup")

    def commit(self, member: _Member, partitions: int) -> bytes:
        rows = [
            {"partition_index": index, "committed_offset": _OFFSET if index == 0 else index,
             "committed_leader_epoch": -1, "committed_metadata": ""}
            for index in range(partitions)
        ]  # fmt: skip
        body = {
            "group_id": TOPIC, "generation_id_or_member_epoch": self.generation,
            "member_id": member.id, "group_instance_id": None,
            "topics": [{"name": TOPIC, "partitions": rows}],
        }  # fmt: skip
        return frame("OffsetCommit", 9, body)

    def ready(self, seconds: float) -> list[int]:
        return [key.data for key, _ in self._selector.select(seconds)]

    def close(self) -> None:
        self._selector.close()
        for line in self._lines:
            line.close()

    def _all_join(self) -> list[bytes]:
        """Each member's answer. Where nothing moves, those answered early join once more."""
        answers: dict[int, bytes] = {}
        while True:
            subscribed = b"%012d" % self.rounds
            for number in set(range(len(self.members))) - self._owed:
                self._send(number, self.members[number].join.with_(subscribed))
            answers.update(self._collected(QUIET_S))
            if not self._owed:
                break
            self.rounds += 1
        for answer in answers.values():
            demand(_code(answer), "JoinGroup")
        return [answers[number] for number in range(len(self.members))]

    def _send(self, number: int, data: bytes) -> None:
        self._owed.add(number)
        self.members[number].sock.sendall(data)

    def _collected(self, quiet: float) -> dict[int, bytes]:
        """What is owed, or as much of it as came before nobody answered for so long."""
        answers: dict[int, bytes] = {}
        while self._owed:
            found = self.ready(quiet if answers else PATIENCE_S)
            if not found and not answers:
                raise RuntimeError(f"nobody answers any of {len(self._owed)} members")
            if not found:
                break
            for number in found:
                for answer in self.members[number].answers():
                    answers[number] = answer
                    self._owed.discard(number)
        return answers

    def _as_leader(self, member: _Member) -> _Patched:
        if member.id not in self._leads:
            made = frame("SyncGroup", 5, self._syncs(member.id, self._everybody))
            self._leads[member.id] = _Patched(made, _int(_GENERATION))
        return self._leads[member.id]

    def _joins(self, member_id: str) -> Struct:
        return {
            "group_id": TOPIC, "session_timeout_ms": SESSION_MS, "rebalance_timeout_ms": SESSION_MS,
            "member_id": member_id, "protocol_type": "bench", "reason": None,
            "protocols": [{"name": "range", "metadata": b"t" * 20 + _SUBSCRIBED}],
        }  # fmt: skip

    def _syncs(self, member_id: str, assignments: list[Struct] | None = None) -> Struct:
        return {
            "group_id": TOPIC, "generation_id": _GENERATION, "member_id": member_id,
            "protocol_type": "bench", "protocol_name": "range", "assignments": assignments or [],
        }  # fmt: skip


_LOADING = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
)  # fmt: skip


def _code(answer: bytes) -> int:
    return _ANSWER.unpack_from(answer)[3]


def _int(value: int) -> bytes:
    return struct.pack(">i", value)


def _long(value: int) -> bytes:
    return struct.pack(">q", value)
