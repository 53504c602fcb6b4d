"""A member of a group in the classic protocol: joins, learns its share, stays alive, leaves.

What an error code means for a membership is the table `REACTIONS`: each request, each code, one
reaction, and whatever is not listed is an error that the application sees. Nothing here runs
between calls: heartbeats go out when somebody runs `beat`, which a consumer does in every poll.

A generation is a membership as everybody agreed on it; one that was lost (`generation` < 0) has
taken with it all that the member was given. The member's id outlives its generations unless the
coordinator does not know it any more.

Sources: AbstractCoordinator's response handlers at 4.3.1; KIP-62, KIP-345, KIP-394, KIP-559,
KIP-814; clauses CONS-18, CONS-43, CONS-44.
"""

from collections.abc import Callable
from enum import Enum

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.errors import name_of
from touchstone.reference_impl.wire.schema import Struct

from .coordinator import MOVED, Coordinator
from .flow import Failed, Flow, KafkaError, Pause

JOIN_LAPSE_MS = 5_000  # what a coordinator may take beyond the rebalance timeout


class Do(Enum):
    """What a member does about an error."""

    LATER = "try again after a while"
    ELSEWHERE = "look for the coordinator, then try again"
    NAMED = "take the member id that came with the error and join with it"
    REJOIN = "join again; id and generation are good"
    REGENERATE = "join again without a generation"
    FORGET = "join again as somebody new"
    FAIL = "the application must know"


_COORDINATOR: dict[int, Do] = dict.fromkeys(MOVED, Do.ELSEWHERE)
_MEMBERSHIP: dict[int, Do] = {E.UNKNOWN_MEMBER_ID: Do.FORGET, E.ILLEGAL_GENERATION: Do.REGENERATE}
REACTIONS: dict[str, dict[int, Do]] = {
    "JoinGroup": _COORDINATOR
    | {
        E.COORDINATOR_LOAD_IN_PROGRESS: Do.LATER,
        E.REBALANCE_IN_PROGRESS: Do.LATER,
        E.UNKNOWN_MEMBER_ID: Do.FORGET,
        E.MEMBER_ID_REQUIRED: Do.NAMED,
    },
    "SyncGroup": _COORDINATOR | _MEMBERSHIP | {E.REBALANCE_IN_PROGRESS: Do.REJOIN},
    "Heartbeat": _COORDINATOR
    | _MEMBERSHIP
    | {E.REBALANCE_IN_PROGRESS: Do.REJOIN, E.COORDINATOR_LOAD_IN_PROGRESS: Do.LATER},
    "OffsetCommit": _MEMBERSHIP | {E.REBALANCE_IN_PROGRESS: Do.REJOIN},
}

Protocols = Callable[[], list[tuple[str, bytes]]]
Lead = Callable[[str, list[Struct]], Flow[dict[str, bytes]]]


class Member:
    """`protocols` gives names and metadata to join with; `lead` divides when this one leads."""

    def __init__(
        self,
        coordinator: Coordinator,
        *,
        protocols: Protocols,
        lead: Lead,
        protocol_type: str = "consumer",
        instance_id: str | None = None,
        session_timeout_ms: int = 45_000,
        rebalance_timeout_ms: int = 300_000,
        heartbeat_interval_ms: int = 3_000,
    ):
        self.coordinator = coordinator
        self.view = coordinator.view
        self.instance_id = instance_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.id = ""
        self.generation = -1
        self.protocol: str | None = None
        self.leads = False
        self.rejoin = "it is new"  # why it must join, or "" while it need not
        self._protocols = protocols
        self._lead = lead
        self._protocol_type = protocol_type
        self.beat_at = 0  # when the next heartbeat is due (ms)
        self._heard_at = 0
        self._failures = 0

    @property
    def identity(self) -> Struct:
        """The fields by which a request says whose it is."""
        stay = {"generation_id": self.generation, "group_instance_id": self.instance_id}
        return self._name | stay

    @property
    def _name(self) -> dict[str, str]:
        return {"group_id": self.coordinator.key, "member_id": self.id}

    def lose(self, why: str, *, keep_id: bool = False) -> None:
        """There is no generation any more, and without `keep_id` no member either."""
        self.generation, self.leads, self.rejoin = -1, False, why
        if not keep_id:
            self.id = ""

    # --- joining -------------------------------------------------------------------------------

    def join(self) -> Flow[bytes | None]:
        """One attempt: the share of this member, or None where it has to try again.

        An error leaves the reason to join as it was (AbstractCoordinator.joinGroupIfNeeded).
        """
        why, self.rejoin = self.rejoin, ""
        share = None
        try:
            share = yield from self._attempt(why)
        finally:
            if share is None:
                self.rejoin = self.rejoin or why
        return share

    def _attempt(self, why: str) -> Flow[bytes | None]:
        body = {
            **self._name,
            "group_instance_id": self.instance_id,
            "session_timeout_ms": self.session_timeout_ms,
            "rebalance_timeout_ms": self.rebalance_timeout_ms,
            "protocol_type": self._protocol_type,
            "protocols": [{"name": n, "metadata": m} for n, m in self._protocols()],
            "reason": why,
        }
        timeout = self.rebalance_timeout_ms + JOIN_LAPSE_MS
        joined = yield from self._said("JoinGroup", body, timeout_ms=timeout)
        if joined is None:
            return None
        self._agree(joined.get("protocol_type"))
        self.id, self.generation = joined["member_id"], joined["generation_id"]
        self.protocol = joined["protocol_name"]
        self.leads = joined["leader"] == self.id
        shares: dict[str, bytes] = {}
        if self.leads:  # who need not divide watches the topics all the same (KIP-814)
            divided = yield from self._lead(self.protocol, joined["members"])
            shares = {} if joined.get("skip_assignment") else divided
        body = {
            **self.identity,
            "protocol_type": self._protocol_type,
            "protocol_name": self.protocol,
            "assignments": [{"member_id": m, "assignment": a} for m, a in shares.items()],
        }
        synced = yield from self._said("SyncGroup", body, timeout_ms=timeout)
        if synced is None:
            self.rejoin = self.rejoin or "SyncGroup failed"
            return None
        self._agree(synced.get("protocol_type"))
        self._failures, self._heard_at = 0, self.view.now
        self.beat_at = self.view.now + self.heartbeat_interval_ms
        return synced["assignment"]

    def _agree(self, protocol_type: str | None) -> None:
        """A coordinator from KIP-559 on says what kind of group this is."""
        if protocol_type not in (None, self._protocol_type):
            raise KafkaError(E.INCONSISTENT_GROUP_PROTOCOL, f"a group of {protocol_type!r}")

    # --- staying -------------------------------------------------------------------------------

    def beat(self) -> Flow[None]:
        """A heartbeat if one is due."""
        if self.generation < 0 or self.rejoin or self.view.now < self.beat_at:
            return
        if self.view.now - self._heard_at > self.session_timeout_ms:
            self.coordinator.forget()  # it has been silent for a whole session
        self.beat_at = self.view.now + self.heartbeat_interval_ms
        if (yield from self._said("Heartbeat", self.identity, patient=False)) is not None:
            self._heard_at, self._failures = self.view.now, 0

    def leave(self, why: str) -> Flow[None]:
        """Out of the group. A static member only stops: its place is kept for its instance id."""
        if self.id and not self.instance_id and self.coordinator.node is not None:
            row = {"member_id": self.id, "group_instance_id": self.instance_id, "reason": why}
            yield from self.coordinator.once("LeaveGroup", self._name | {"members": [row]})
        self.lose(why)

    # --- errors --------------------------------------------------------------------------------

    def _said(
        self, api: str, body: Struct, *, timeout_ms: int | None = None, patient: bool = True
    ) -> Flow[Struct | None]:
        """The answer, or None after its error was reacted to; `patient` waits before that."""
        outcome = yield from self.coordinator.once(api, body, timeout_ms=timeout_ms)
        if isinstance(outcome, Failed):
            does = Do.ELSEWHERE
        elif not outcome.body["error_code"]:
            return outcome.body
        else:
            does = self.react(api, outcome.body["error_code"], outcome.body.get("member_id", ""))
        if patient and does in (Do.LATER, Do.ELSEWHERE):
            yield Pause(self.view.now + self.view.backoff.delay(self._failures))
            self._failures += 1
        return None

    def react(self, api: str, code: int, named: str = "") -> Do:
        """Do what an error code asks of a member; KafkaError where that is nothing it can do."""
        does = REACTIONS[api].get(code, Do.FAIL)
        why = f"{api}: {name_of(code)}"
        if does is Do.FAIL:
            if code == E.FENCED_INSTANCE_ID:
                self.lose(why)
            raise KafkaError(code, about=f"{api} of group {self.coordinator.key}")
        if does is Do.ELSEWHERE:
            self.coordinator.forget()
        elif does is Do.NAMED:
            self.id, self.rejoin = named, why
        elif does is Do.REJOIN:
            self.rejoin = why
        elif does in (Do.REGENERATE, Do.FORGET):
            self.lose(why, keep_id=does is Do.REGENERATE)
        return does
