"""This coordinator makes mistakes that real ones have made, one for each switch.

They stand apart so that the coordinator stays what Kafka's is. Each method asks for its own switch
and otherwise does what its parent does.

Sources: broker/faults/switches.py, whose sentences say what each mistake is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from touchstone.reference_impl.group.coordinator import Coordinator, keep_nowhere
from touchstone.reference_impl.group.join_messages import Answer, Join, Keep, Rules, refusal
from touchstone.reference_impl.group.members import Group, Member, Ticket
from touchstone.reference_impl.group.states import State
from touchstone.reference_impl.wire.errors import ErrorCode

LAST_GENERATION = 3  # where a count that starts over does so; a real one's would be a power of two
RULES: dict[str, Callable[[Rules], Rules]] = {
    "initial-rebalance-delay-ignored": lambda rules: replace(rules, initial_delay_ms=0),
    "group-size-ignored": lambda rules: replace(rules, max_size=2**31 - 1),
}
SWITCHES = frozenset(
    {
        "generation-not-bumped", "joins-not-awaited", "joining-members-forgotten",
        "assignment-truncated", "rebalance-too-many", "fenced-instance-accepted",
        "session-timeout-ignored", "pending-syncs-not-told", "generations-start-over", *RULES,
    }
)  # fmt: skip


class DefectiveCoordinator(Coordinator):
    def __init__(
        self,
        rules: Rules,
        *,
        new_id: Callable[[str], str],
        alarm: Callable[[str, int | None], None],
        keep: Keep = keep_nowhere,
        switches: frozenset[str],
    ) -> None:
        for name in switches & RULES.keys():
            rules = RULES[name](rules)
        super().__init__(rules, new_id=new_id, alarm=alarm, keep=keep)
        self.switches = switches

    def join(self, ask: Join, now: int) -> Ticket[Answer]:
        group = self.groups.get(ask.group_id)
        if (
            "joining-members-forgotten" in self.switches
            and group is not None
            and group.state is State.PREPARING
            and ask.member_id in group.members
        ):
            code = ErrorCode.UNKNOWN_MEMBER_ID
            return Ticket(refusal(code, ask.member_id, self.rules.error_generation))
        return super().join(ask, now)

    def heartbeat(
        self, group_id: str, member_id: str, generation: int, instance_id: str | None, now: int
    ) -> int:
        code = super().heartbeat(group_id, member_id, generation, instance_id, now)
        fenced = code == ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if fenced and "fenced-instance-accepted" in self.switches else code

    def tick(self, group_id: str, now: int) -> None:
        group = self.groups.get(group_id)
        if group is not None and "session-timeout-ignored" in self.switches:
            for member in group.members.values():
                member.expires = None
        super().tick(group_id, now)

    def _rejoin(self, group: Group, member: Member, ask: Join, now: int) -> Ticket[Answer]:
        if "rebalance-too-many" in self.switches and group.state is State.STABLE:
            return self._update(group, member, ask, now, rebalance=True)
        return super()._rejoin(group, member, ask, now)

    def _rebalance(self, group: Group, now: int) -> None:
        if "pending-syncs-not-told" in self.switches and group.state is State.COMPLETING:
            group.state = State.STABLE
        super()._rebalance(group, now)

    def _check_join(self, group: Group, now: int) -> None:
        joined = any(member.joining is not None for member in group.members.values())
        if "joins-not-awaited" in self.switches and group.state is State.PREPARING and joined:
            self._complete_join(group, now)
        else:
            super()._check_join(group, now)

    def _complete_join(self, group: Group, now: int) -> None:
        if "generation-not-bumped" in self.switches and group.generation:
            group.generation -= 1
        if "generations-start-over" in self.switches and group.generation == LAST_GENERATION:
            group.generation = 0
        super()._complete_join(group, now)

    def _assign(self, group: Group, state: State, assignments: dict[str, bytes], now: int) -> None:
        if "assignment-truncated" in self.switches:
            assignments = {member: part[:-1] for member, part in assignments.items()}
        super()._assign(group, state, assignments, now)
