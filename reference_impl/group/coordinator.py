"""The coordinator of classic groups: membership and rebalances, as a state machine with instants.

It is told what happened (a join, a heartbeat, that it is now so late) and answers with a dict or
with a `Ticket` whose answer comes later. What a state does with an input is read from `states.py`;
what must be checked before that (group size, member, generation, instance id) stands here.
Offsets are `offsets.py`'s. Randomness arrives as `new_id`, time as `now`, and `alarm(group id,
instant)` asks the owner to call `tick` then; nothing here knows requests or versions.

Assignments count when they are kept in the group's log (GROUP-18): `keep(group, assignments, now,
then)` sees to that and calls back. `adopt` and `abandon` take groups up and let them go when the
leadership of their partition moves (GROUP-30).

Sources: GROUP-01 to 24, 32; GroupCoordinator.scala@1.0.2, 2.2.1, 2.8.2 and
GroupMetadataManager.java@4.3.1; KIP-62, KIP-345, KIP-394, KIP-814; observed on all five.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.reference_impl.group.join_messages import (
    Answer,
    Join,
    Keep,
    Rules,
    joined,
    keep_nowhere,
    refusal,
    synced,
)
from touchstone.reference_impl.group.members import Group, Member
from touchstone.reference_impl.group.replacement import Replacement
from touchstone.reference_impl.group.states import Cell, Do, Input, State, error_of, table
from touchstone.reference_impl.ticket import Ticket
from touchstone.reference_impl.wire.errors import ErrorCode

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000  # a first join may wait so long before it is given up


class Coordinator:
    def __init__(
        self,
        rules: Rules,
        *,
        new_id: Callable[[str], str],
        alarm: Callable[[str, int | None], None],
        keep: Keep = keep_nowhere,
    ) -> None:
        self.rules = rules
        self._keep = keep
        self.groups: dict[str, Group] = {}
        self.table = table(early=rules.early)
        self._new_id = new_id
        self._alarm = alarm

    # --- inputs ------------------------------------------------------------------------------

    def join(self, ask: Join, now: int) -> Ticket[Answer]:
        rules = self.rules
        if not rules.min_session_ms <= ask.session_timeout_ms <= rules.max_session_ms:
            return self._refuse(ask, ErrorCode.INVALID_SESSION_TIMEOUT)
        group = self.groups.get(ask.group_id)
        if group is None:
            if ask.member_id:
                return self._refuse(ask, ErrorCode.UNKNOWN_MEMBER_ID)
            group = self.create(ask.group_id, now)
        ticket = self._admit(group, ask, now)
        if not self.settle(group, now):  # what Kafka throws is told to the one who came last
            group.answer_apart(ticket)
            ticket.give(refusal(ErrorCode.UNKNOWN_SERVER_ERROR, "", -1))
        return ticket

    def sync(
        self,
        group_id: str,
        member_id: str,
        generation: int,
        *,
        instance_id: str | None,
        protocol_type: str | None,
        protocol: str | None,
        assignments: dict[str, bytes],
        now: int,
    ) -> Ticket[Answer]:
        group = self.groups.get(group_id)
        if group is None:
            return Ticket(synced(ErrorCode.UNKNOWN_MEMBER_ID))
        if self.table.peek(group.state, Input.SYNC).first:
            return Ticket(synced(error_of(self.decide(group, Input.SYNC))))
        code = self.check_member(group, member_id, instance_id, generation)
        if not code and (
            protocol_type not in (None, group.protocol_type)
            or protocol not in (None, group.protocol)
        ):
            code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if code:
            return Ticket(synced(code))
        given = Input.SYNC_LEADER if member_id == group.leader else Input.SYNC
        cell = self.table.peek(group.state, given)
        if cell.do is not Do.ASSIGN:  # which is decided once the log has the assignments
            self.decide(group, given)
        member = group.members.get(member_id)
        if isinstance(cell.do, ErrorCode) or member is None:  # `check_member` knew it
            return Ticket(synced(error_of(cell)))
        ticket: Ticket[Answer] = Ticket()
        group.unsynced.discard(member_id)
        if cell.do is Do.ASSIGNMENT:
            if self.rules.syncs_are_signs_of_life:
                group.touch(member, now)
            ticket.give(synced(ErrorCode.NONE, group, member.assignment))
        else:
            member.syncing = ticket
            if cell.do is Do.ASSIGN:
                self._assign(group, assignments, now)
        self.settle(group, now)
        return ticket

    def heartbeat(
        self, group_id: str, member_id: str, generation: int, instance_id: str | None, now: int
    ) -> int:
        group = self.groups.get(group_id)
        if group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        # Up to 2.2 Kafka looks for the member in a group that awaits assignments, but not at its
        # generation (GroupCoordinator.handleHeartbeat@2.2.1); `Cell.first` would skip both.
        cell = self.table.peek(group.state, Input.HEARTBEAT)
        refuses = isinstance(cell.do, ErrorCode)
        checked = None if refuses and group.state is State.COMPLETING else generation
        code = 0 if cell.first else self.check_member(group, member_id, instance_id, checked)
        if code:
            return code
        cell = self.decide(group, Input.HEARTBEAT)
        if isinstance(cell.do, ErrorCode):
            return cell.do
        group.touch(group.members[member_id], now)
        return ErrorCode.REBALANCE_IN_PROGRESS if cell.do is Do.REBALANCING else ErrorCode.NONE

    def leave(self, group_id: str, member_id: str, instance_id: str | None, now: int) -> int:
        group = self.groups.get(group_id)
        if group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if member_id in group.pending:
            if instance_id is not None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            del group.pending[member_id]
            self._check_join(group, now)
        else:
            if not member_id and instance_id is not None:
                member_id = group.instances.get(instance_id, "")
            code = self.check_member(group, member_id, instance_id, None)
            if code:
                return code
            self._remove(group, member_id, now)
        self.settle(group, now)
        return ErrorCode.NONE

    def delete(self, group_id: str) -> int:
        group = self.groups.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        cell = self.decide(group, Input.DELETE)
        if cell.do is not Do.REMOVE:
            return error_of(cell)
        if group.state is State.DEAD:
            self._drop(group)
        return ErrorCode.NONE

    def tick(self, group_id: str, now: int) -> None:
        """Do what is due in this group by now."""
        group = self.groups.get(group_id)
        if group is None:
            return
        group.earliest_expiry_ms = None
        group.pending = {each: lapses for each, lapses in group.pending.items() if lapses > now}
        for member in list(group.members.values()):
            if member.id not in group.members:
                continue  # one that lapsed before it completed the join, which dropped this one too
            if member.expires_at_ms is not None and member.expires_at_ms <= now:
                member.expires_at_ms = None
                waits = member.joining is not None or member.syncing is not None
                if not waits or member.fresh:
                    self._remove(group, member.id, now)
        if group.sync_deadline is not None and group.sync_deadline <= now:
            self._drop_unsynced(group, now)
        self._check_join(group, now)
        self.settle(group, now)

    def decide(self, group: Group, given: Input) -> Cell:
        """What the table says of this input; from here on the group is in the next state."""
        cell = self.table[group.state, given]
        group.state = cell.next
        return cell

    def check_member(
        self, group: Group, member_id: str, instance_id: str | None, generation: int | None
    ) -> int:
        """The error of one who is no member of this generation (KIP-345: fenced before unknown)."""
        if instance_id is not None:
            holder = group.instances.get(instance_id)
            if holder is None and self.rules.knows_instances:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if holder not in (None, member_id):
                return ErrorCode.FENCED_INSTANCE_ID
        if member_id not in group.members:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if generation is not None and generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        return ErrorCode.NONE

    def create(self, group_id: str, now: int) -> Group:
        """A new group; it stays even if whoever wanted it is refused."""
        group = self.groups[group_id] = Group(group_id, emptied_at_ms=now)
        return group

    def adopt(self, groups: dict[str, Group], now: int) -> None:
        """Groups whose partition this coordinator leads from now on."""
        for group in groups.values():
            self.groups[group.id] = group
            self.settle(group, now)

    def abandon(self, ours: Callable[[str], bool]) -> None:
        """Groups that are not `ours` any more: who waits in them must ask somebody else."""
        code = ErrorCode.NOT_COORDINATOR
        for group in [group for group in self.groups.values() if not ours(group.id)]:
            for member in group.members.values():
                if member.joining is not None:
                    member.joining.give(refusal(code, member.id, self.rules.error_generation))
                if member.syncing is not None:
                    member.syncing.give(synced(code))
            self.forget(group)

    def begin(self, group: Group, now: int, *, rebalances: bool) -> None:
        """A group that was a consumer group goes on as a classic one."""
        if rebalances:
            self._lose_members(group, now)
        self.settle(group, now)

    def settle(self, group: Group, now: int) -> bool:
        """Do what is due by now and set the alarm for what comes next; False where Kafka throws."""
        sound = self._check_join(group, now)
        if group.state is not State.DEAD and group.id in self.groups:
            self._alarm(group.id, group.deadline())
        return sound

    def forget(self, group: Group) -> None:
        """Let a group go that nobody asked to delete: it moved away, or it expired."""
        group.state = State.DEAD
        self._drop(group)

    def _drop(self, group: Group) -> None:
        self.groups.pop(group.id, None)
        self._alarm(group.id, None)

    # --- joining -----------------------------------------------------------------------------

    def _refuse(self, ask: Join, code: int, member_id: str | None = None) -> Ticket[Answer]:
        member_id = ask.member_id if member_id is None else member_id
        return Ticket(refusal(code, member_id, self.rules.error_generation))

    def _admit(self, group: Group, ask: Join, now: int) -> Ticket[Answer]:
        if not group.has_room(
            ask.member_id, self.rules.max_size, count_all=self.rules.counts_everybody
        ):
            if ask.member_id in group.members:
                self._remove(group, ask.member_id, now)
            return self._refuse(ask, ErrorCode.GROUP_MAX_SIZE_REACHED, "")
        if not group.supports(ask.protocol_type, ask.protocols):
            return self._refuse(ask, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if not ask.member_id:
            return self._newcomer(group, ask, now)
        if ask.member_id in group.pending and ask.instance_id is None:
            del group.pending[ask.member_id]
            return self._enter(group, ask, ask.member_id, now)
        code = self.check_member(group, ask.member_id, ask.instance_id, None)
        if code:
            return self._refuse(ask, code)
        return self._rejoin(group, group.members[ask.member_id], ask, now)

    def _newcomer(self, group: Group, ask: Join, now: int) -> Ticket[Answer]:
        held_by = group.instances.get(ask.instance_id) if ask.instance_id is not None else None
        member_id = self._new_id(ask.client_id if ask.instance_id is None else ask.instance_id)
        if held_by is not None:
            return self._take_over(group, held_by, member_id, ask, now)
        if ask.needs_id and ask.instance_id is None:
            group.pending[member_id] = now + ask.session_timeout_ms
            return self._refuse(ask, ErrorCode.MEMBER_ID_REQUIRED, member_id)
        return self._enter(group, ask, member_id, now)

    def _enter(self, group: Group, ask: Join, member_id: str, now: int) -> Ticket[Answer]:
        member = Member(
            member_id,
            ask.instance_id,
            ask.client_id,
            ask.client_host,
            ask.session_timeout_ms,
            ask.rebalance_timeout_ms,
            ask.protocols,
        )
        ticket: Ticket[Answer] = Ticket()
        member.joining = ticket
        member.fresh = self.rules.new_members_lapse
        if member.fresh:
            member.expires_at_ms = now + NEW_MEMBER_JOIN_TIMEOUT_MS
        before, cell = group.state, self.decide(group, Input.JOIN_NEW)
        group.add(member, ask.protocol_type)
        group.grown = True
        if cell.do is Do.ADMIT:
            self._rebalance(group, before, now)
        return ticket

    def _rejoin(self, group: Group, member: Member, ask: Join, now: int) -> Ticket[Answer]:
        if member.protocols != ask.protocols:
            given = Input.JOIN_CHANGED
        else:
            given = Input.JOIN_LEADER if member.id == group.leader else Input.JOIN_KEPT
        before, cell = group.state, self.decide(group, given)
        if isinstance(cell.do, ErrorCode):
            return self._refuse(ask, cell.do)
        if cell.do is Do.CURRENT:  # and its session goes on
            listed = before is State.COMPLETING
            return Ticket(joined(group, member, with_members=listed))
        ticket = self._update(group, member, ask)
        if cell.do is Do.ADMIT:
            self._rebalance(group, before, now)
        return ticket

    def _update(self, group: Group, member: Member, ask: Join) -> Ticket[Answer]:
        group.change(member, ask.protocols)
        if not self.rules.keeps_timeouts:
            member.session_timeout_ms = ask.session_timeout_ms
            member.rebalance_timeout_ms = ask.rebalance_timeout_ms
        ticket: Ticket[Answer] = Ticket()
        member.joining = ticket  # who waited on another connection gets no answer
        return ticket

    def _take_over(
        self, group: Group, old_id: str, new_id: str, ask: Join, now: int
    ) -> Ticket[Answer]:
        """A static member came back under a new id (KIP-345)."""
        replacement = Replacement.of(group, group.members[old_id])
        member, joining, syncing = group.replace(old_id, new_id)
        fenced = ErrorCode.FENCED_INSTANCE_ID
        if joining is not None:
            joining.give(refusal(fenced, old_id, self.rules.error_generation))
        if syncing is not None:
            syncing.give(synced(fenced))
        group.touch(member, now)
        before, cell = group.state, self.decide(group, Input.JOIN_STATIC)
        ticket = self._update(group, member, ask)
        chosen = group.elected(self.rules.tie)
        if cell.do is Do.REPLACE and chosen is None:
            group.stop_waiting(ticket)
            return Ticket(refusal(ErrorCode.UNKNOWN_SERVER_ERROR, "", -1))
        if cell.do is Do.REPLACE and chosen != group.protocol:
            cell = self.decide(group, Input.JOIN_CHANGED)
        if cell.do is Do.ADMIT:
            self._rebalance(group, before, now)
        elif cell.do is Do.REPLACE:
            # Without it the next coordinator would fence the member and obey who it replaced.
            reverts = self.rules.reverts_protocols

            def kept(code: int, at: int) -> None:
                if member.joining is ticket:  # else replaced again, in a new generation, or let go
                    ticket.give(replacement.kept(group, ask, code, at, reverts_protocols=reverts))
                    self.settle(group, at)

            self._keep(group, group.assignments(), now, kept)
        return ticket

    # --- the join phase ----------------------------------------------------------------------

    def _lose_members(self, group: Group, now: int) -> None:
        """Members are gone, or what they were assigned is: Kafka's maybePrepareRebalance."""
        before, cell = group.state, self.decide(group, Input.REMOVAL)
        if cell.do is Do.REBALANCE:
            self._rebalance(group, before, now)

    def _rebalance(self, group: Group, before: State, now: int) -> None:
        """Begin the join phase; `before` is the state that the group was in until now."""
        if before is State.COMPLETING:
            for member in group.members.values():
                member.assignment = b""
                self._answer_sync(group, member, synced(ErrorCode.REBALANCE_IN_PROGRESS), now)
        group.sync_deadline, group.abandoned = None, False
        longest = group.longest_rebalance()
        if before is State.EMPTY:
            delay = self.rules.initial_delay_ms
            group.join_deadline = now + delay
            group.join_may_grow_ms = max(longest - delay, 0)
            group.grown = False
        else:
            group.join_deadline, group.join_may_grow_ms = now + longest, None

    def _check_join(self, group: Group, now: int) -> bool:
        """End the join phase when all are here or its time is up (GROUP-13, GROUP-14)."""
        if group.state is not State.PREPARING or group.abandoned:
            return True
        due = group.join_deadline is not None and group.join_deadline <= now
        if group.join_may_grow_ms is not None:
            if not due:
                return True
            if group.grown and group.join_may_grow_ms:
                delay = min(self.rules.initial_delay_ms, group.join_may_grow_ms)
                group.join_may_grow_ms -= delay
                group.join_deadline, group.grown = now + delay, False
                return True
        elif not due and not group.all_joined():
            return True
        return self._complete_join(group, now)

    def _complete_join(self, group: Group, now: int) -> bool:
        """End the join phase, or wait on (GroupCoordinator.onCompleteJoin@2.8.2). False where Kafka
        throws at somebody: not in the first phase of a group, which a timer ends.
        """
        # An instance id outlives its absence (KIP-345): a static member is kept, and assigned to,
        # until its session ends; anybody else who did not come is out.
        absent = [m for m in group.members.values() if m.joining is None]
        for member in absent:
            if member.instance_id is None:
                group.remove(member.id)
        present = [m for m in group.members.values() if m.joining is not None]
        if group.members and not present:  # only static members, all away: wait once more
            group.join_deadline = now + group.longest_rebalance()
            group.join_may_grow_ms = None
            return True
        leader = group.members.get(group.leader or "")
        if present and (leader is None or leader.joining is None):
            group.leader = present[0].id  # maybeElectNewJoinedLeader: any that has joined
        if group.is_stuck(self.rules.tie, reads=self.rules.reads_subscriptions):
            return group.abandon_join(tries_again=self.rules.tries_again)
        self.decide(group, Input.JOINED if present else Input.DESERTED)
        group.generation += 1
        group.join_deadline = group.join_may_grow_ms = None
        if not present:
            group.protocol = group.leader = None
            group.emptied_at_ms = now
            # If this is lost, the generation before comes back with the log and times out; Kafka
            # only warns.
            self._keep(group, {}, now, lambda code, at: None)
            return True
        group.protocol = group.elected(self.rules.tie)
        if self.rules.awaits_syncs:  # also those of static members that are away
            group.unsynced = set(group.members)
            group.sync_deadline = now + group.longest_rebalance()
        for member in present:
            ticket, member.joining, member.fresh = member.joining, None, False
            group.touch(member, now)
            if ticket is not None:
                ticket.give(joined(group, member, with_members=True))
        return True

    # --- the sync phase ----------------------------------------------------------------------

    def _assign(self, group: Group, assignments: dict[str, bytes], now: int) -> None:
        """Kept first, then handed out; what could not be kept begins a rebalance (GROUP-18)."""
        generation = group.generation

        def kept(code: int, at: int) -> None:
            if group.state is not State.COMPLETING or group.generation != generation:
                return  # another rebalance has begun meanwhile
            if code:
                for member in group.members.values():
                    self._answer_sync(group, member, synced(code), at)
                self._lose_members(group, at)
            else:
                self.decide(group, Input.SYNC_LEADER)
                for member in group.members.values():
                    member.assignment = assignments.get(member.id, b"")
                    answer = synced(ErrorCode.NONE, group, member.assignment)
                    self._answer_sync(group, member, answer, at)
            self.settle(group, at)

        self._keep(group, assignments, now, kept)

    def _answer_sync(self, group: Group, member: Member, answer: Answer, now: int) -> None:
        ticket, member.syncing = member.syncing, None
        if ticket is not None:
            group.touch(member, now)
            ticket.give(answer)

    def _drop_unsynced(self, group: Group, now: int) -> None:
        group.sync_deadline = None
        late = group.unsynced & group.members.keys()
        for member_id in sorted(late):
            group.remove(member_id)
        if late:
            self._lose_members(group, now)

    # --- members -----------------------------------------------------------------------------

    def _remove(self, group: Group, member_id: str, now: int) -> None:
        member = group.remove(member_id)
        code = ErrorCode.UNKNOWN_MEMBER_ID
        if member.joining is not None:
            member.joining.give(refusal(code, "", self.rules.error_generation))
        if member.syncing is not None:
            member.syncing.give(synced(code))
        self._lose_members(group, now)
        self._check_join(group, now)
