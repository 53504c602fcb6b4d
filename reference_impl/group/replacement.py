"""A static member that comes back under a new id can be brought back under its old one (KIP-345).

While a classic group is stable the member takes its place over without a rebalance, which counts
once the group's log has the new id; where the log does not take it, the group is as it was.

Sources: GroupCoordinator.updateStaticMemberAndRebalance@2.6.3, 2.8.2, 3.8.0;
GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin@3.9.0, 4.3.1.
"""

from __future__ import annotations

from typing import NamedTuple

from touchstone.reference_impl.group.join_messages import Answer, Join, replaced, unkept
from touchstone.reference_impl.group.members import Group, Member, Protocols


class Replacement(NamedTuple):
    """A static member and what it was before; times in ms."""

    member: Member
    old_id: str
    leader: str | None  # the member id of the group's leader then
    protocols: Protocols
    session_timeout_ms: int
    rebalance_timeout_ms: int

    @classmethod
    def of(cls, group: Group, member: Member) -> Replacement:
        """Return what must be known of the member before it is replaced."""
        timeouts = member.session_timeout_ms, member.rebalance_timeout_ms
        return cls(member, member.id, group.leader, member.protocols, *timeouts)

    def kept(
        self, group: Group, ask: Join, code: int, now: int, *, reverts_protocols: bool
    ) -> Answer:
        """End the member's wait and return what it hears; `code` says why the log did not take it.

        Kafka's older coordinator remembers the old protocols only after they have changed, so there
        they are not brought back (`reverts_protocols`).
        """
        member = self.member
        member.joining = None
        if not code:
            return replaced(group, member, ask, self.leader)
        if reverts_protocols:
            group.change(member, self.protocols)
        member.session_timeout_ms = self.session_timeout_ms
        member.rebalance_timeout_ms = self.rebalance_timeout_ms
        group.replace(member.id, self.old_id)
        group.touch(member, now)
        return unkept(code, group, self.leader)
