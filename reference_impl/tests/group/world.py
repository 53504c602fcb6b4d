"""A coordinator with made-up instants, ids that count, and one alarm that a test can ring."""

from __future__ import annotations

from itertools import count

from touchstone.reference_impl.group.commits import may_commit
from touchstone.reference_impl.group.coordinator import Coordinator
from touchstone.reference_impl.group.join_messages import Join, Rules
from touchstone.reference_impl.group.protocol_tie_break import ORDERS
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode

NOW = 1_700_000_000_000
RULES = {
    "early": False,
    "min_session_ms": 6_000,
    "max_session_ms": 1_800_000,
    "initial_delay_ms": 3_000,
    "max_size": 2**31 - 1,
    "error_generation": -1,
    "awaits_syncs": True,
    "new_members_lapse": True,
    "tie": ORDERS["java"],
    "knows_instances": True,
}
RANGE, ROUND = ("range", b"r"), ("roundrobin", b"rr")


class World:
    def __init__(self, **rules):
        ids = count(1)
        self.now = NOW
        self.alarms: dict[str, int | None] = {}
        self.coordinator = Coordinator(
            Rules(**{**RULES, **rules}),
            new_id=lambda stem: f"{stem}-{next(ids)}",
            alarm=self.alarms.__setitem__,
        )

    @property
    def group(self):
        return self.coordinator.groups.get("g")

    def join(self, member="", *, instance=None, protocols=(RANGE,), **how) -> Ticket:
        ask = {
            "group_id": "g",
            "member_id": member,
            "instance_id": instance,
            "client_id": "c",
            "client_host": "/h",
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 60_000,
            "protocol_type": "consumer",
            "protocols": list(protocols),
            "needs_id": False,
            "may_skip": False,
        }
        return self.coordinator.join(Join(**{**ask, **how}), self.now)

    def sync(self, member, generation, *, instance=None, assignments=None) -> Ticket:
        return self.coordinator.sync(
            "g",
            member,
            generation,
            instance_id=instance,
            protocol_type=None,
            protocol=None,
            assignments=assignments or {},
            now=self.now,
        )

    def heartbeat(self, member, generation, instance=None) -> int:
        return self.coordinator.heartbeat("g", member, generation, instance, self.now)

    def leave(self, member, instance=None) -> int:
        return self.coordinator.leave("g", member, instance, self.now)

    def commit(self, member="", generation=-1, instance=None) -> int:
        group = self.group
        return may_commit(self.coordinator, group, member, instance, generation, self.now)

    def advance(self, ms: int) -> None:
        """Let time pass, ringing every alarm on the way at its instant."""
        end = self.now + ms
        while (at := self.alarms.get("g")) is not None and at <= end:
            self.now = max(at, self.now)
            self.coordinator.tick("g", self.now)
        self.now = end

    def wait_for(self, tickets: list[Ticket]) -> None:
        while any(ticket.answer is None for ticket in tickets):
            self.advance(self.alarms["g"] - self.now)

    def stable(self, members: int = 1, **how) -> list[str]:
        """A group whose members have their assignments, leader first."""
        tickets = [self.join(**how) for _ in range(members)]
        self.wait_for(tickets)
        assert all(ticket.answer["error_code"] == ErrorCode.NONE for ticket in tickets)
        ids = [ticket.answer["member_id"] for ticket in tickets]
        waiting = [self.sync(each, 1) for each in ids[1:]]
        plan = {each: each.encode() for each in ids}
        self.sync(ids[0], 1, assignments=plan)
        assert all(ticket.answer["assignment"] for ticket in waiting)
        return ids
