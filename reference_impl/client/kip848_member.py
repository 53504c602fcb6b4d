"""A member of a group in the consumer protocol (KIP-848): one request, which says and is told all.

A heartbeat says what has changed since the last one that was answered: what the member subscribes
to, what it owns. The answer says its epoch and, where that changed, its target: what it is to own.
What it owns beyond that it gives up first; the partitions it then reports are the acknowledgement
that lets others have theirs. Nothing here runs between calls, as in `member.py`.

Sources: AbstractHeartbeatRequestManager, ConsumerHeartbeatRequestManager, ConsumerMembershipManager
at 4.3.1; KIP-848, KIP-1082 (a member makes its own id).
"""

from collections.abc import Iterable

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.errors import name_of
from touchstone.reference_impl.wire.schema import Struct

from .coordinator import MOVED, Coordinator
from .flow import Failed, Flow, KafkaError
from .member import Do

_API = "ConsumerGroupHeartbeat"
_JOINS, _LEAVES, _STEPS_OUT = 0, -1, -2  # epochs that are requests
_FIRST_INTERVAL_MS = 5_000
_FENCED: dict[int, Do] = dict.fromkeys((E.UNKNOWN_MEMBER_ID, E.FENCED_MEMBER_EPOCH), Do.FORGET)
REACTIONS: dict[str, dict[int, Do]] = {
    _API: _FENCED | dict.fromkeys(MOVED, Do.ELSEWHERE) | {E.COORDINATOR_LOAD_IN_PROGRESS: Do.LATER},
    "OffsetCommit": _FENCED | {E.STALE_MEMBER_EPOCH: Do.REJOIN},
}
REACTIONS["ShareGroupHeartbeat"] = REACTIONS[_API]

Share = frozenset[tuple[bytes, int]]  # topic id, partition


class Kip848Member:
    """`topics`, `regex` and `owned` are what a heartbeat reports; `target` is what it brought."""

    api = _API

    def __init__(
        self,
        coordinator: Coordinator,
        *,
        member_id: str,
        instance_id: str | None = None,
        rack: str | None = None,
        assignor: str | None = None,
        rebalance_timeout_ms: int = 300_000,
    ):
        self.coordinator = coordinator
        self.view = coordinator.view
        self.id = member_id
        self.instance_id = instance_id
        self.rack = rack
        self.topics: frozenset[str] = frozenset()
        self.regex: str | None = None
        self.owned: Share = frozenset()
        self.target: Share | None = None  # None: as before
        self.generation = -1  # the member epoch; below 0 there is no membership
        self.rejoin = "it is new"
        self.lost = False  # a membership ended, and the application has not been told
        self._fixed = {
            "rack_id": rack,
            "rebalance_timeout_ms": rebalance_timeout_ms,
            "server_assignor": assignor,
        }
        self._told: Struct = {}  # what the coordinator knows of us
        self.beat_at = 0
        self._interval_ms = _FIRST_INTERVAL_MS
        self._failures = 0

    @property
    def identity(self) -> Struct:
        """The fields by which a request says whose it is."""
        return {
            "group_id": self.coordinator.key,
            "member_id": self.id,
            "generation_id": self.generation,
            "group_instance_id": self.instance_id,
        }

    def lose(self, why: str) -> None:
        """There is no membership any more; the id stays, and the next heartbeat joins again."""
        self.lost = self.lost or self.generation >= 0
        self.generation, self.rejoin, self.target = -1, why, None
        self.owned = frozenset()
        self._told.clear()

    def beat(self) -> Flow[None]:
        """A heartbeat, if one is due or there is something to say."""
        told = self._told
        changed = {
            f: value for f, value in self._state().items() if f not in told or told[f] != value
        }
        joins = self.generation < 0
        if self.view.now < self.beat_at and (self._failures or not (changed or joins)):
            return
        said = {
            field: _rows(v) if field == "topic_partitions" else v for field, v in changed.items()
        }
        answer = yield from self._said(said, _JOINS if joins else self.generation)
        if answer is None:
            return
        self.id = answer["member_id"] or self.id
        self.generation, self.rejoin, self._failures = answer["member_epoch"], "", 0
        self._interval_ms = answer["heartbeat_interval_ms"]
        self.beat_at = self.view.now + self._interval_ms
        self._told |= changed
        if answer["assignment"] is not None:
            self.target = frozenset(
                (bytes(row["topic_id"]), index)
                for row in answer["assignment"]["topic_partitions"]
                for index in row["partitions"]
            )

    def leave(self, why: str) -> Flow[None]:
        """Out of the group; a static member only steps out, its place is kept for a while."""
        if self.generation >= 0 and self.coordinator.node is not None:
            epoch = _STEPS_OUT if self.instance_id else _LEAVES
            yield from self.coordinator.once(self.api, self._body({}, epoch))
        self.lose(why)
        self.beat_at = 0

    def _state(self) -> Struct:
        return {
            **self._fixed,
            "subscribed_topic_names": sorted(self.topics),
            "subscribed_topic_regex": self.regex,
            "topic_partitions": self.owned,
        }

    def _body(self, changed: Struct, epoch: int) -> Struct:
        return {
            "group_id": self.coordinator.key,
            "member_id": self.id,
            "member_epoch": epoch,
            "instance_id": self.instance_id,
            **changed,
        }

    def _said(self, changed: Struct, epoch: int) -> Flow[Struct | None]:
        """The answer, or None after its error was reacted to; then all is said again."""
        outcome = yield from self.coordinator.once(self.api, self._body(changed, epoch))
        if isinstance(outcome, Failed):
            does = Do.ELSEWHERE
        elif not outcome.body["error_code"]:
            return outcome.body
        else:
            does = self.react(self.api, outcome.body["error_code"])
        self._told.clear()
        if does in (Do.LATER, Do.ELSEWHERE):
            self.beat_at = self.view.now + self.view.backoff.delay(self._failures)
            self._failures += 1
        else:
            self.beat_at = 0
        return None

    def react(self, api: str, code: int) -> Do:
        """Do what an error code asks of a member; KafkaError where that is nothing it can do."""
        does = REACTIONS[api].get(code, Do.FAIL)
        why = f"{api}: {name_of(code)}"
        if does is Do.FAIL:
            self.lose(why)
            raise KafkaError(code, about=f"{api} of group {self.coordinator.key}")
        if does is Do.ELSEWHERE:
            self.coordinator.forget()
        elif does is Do.REJOIN:
            self.beat_at = 0  # the next heartbeat brings the new epoch
        elif does is Do.FORGET:
            self.lose(why)
        return does


def _rows(owned: Iterable[tuple[bytes, int]]) -> list[Struct]:
    topics: dict[bytes, list[int]] = {}
    for topic_id, index in sorted(owned):
        topics.setdefault(topic_id, []).append(index)
    return [{"topic_id": topic_id, "partitions": parts} for topic_id, parts in topics.items()]
