"""A broker coordinates the share groups whose partition of `__consumer_offsets` it leads.

They stand beside the groups of `groups.py`, under ids that no other kind of group has. What a
heartbeat changes is written down before it is answered; what it wants initialised is asked of the
share coordinator after, and written down as well. A session that ends takes its member along.

Sources: GroupCoordinatorService, GroupMetadataManager@4.3.1; KIP-932; observed on 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs import group_settings
from touchstone.reference_impl.broker.control.features import Features
from touchstone.reference_impl.broker.control.internal_topics import OFFSETS
from touchstone.reference_impl.broker.coordinators import share_persister
from touchstone.reference_impl.broker.coordinators.group_log import nobody_waits
from touchstone.reference_impl.broker.coordinators.groups import Groups
from touchstone.reference_impl.broker.coordinators.runtime import CoordinatorRuntime, Load
from touchstone.reference_impl.broker.coordinators.share_persister import Answer
from touchstone.reference_impl.broker.coordinators.topic_view import topic_view
from touchstone.reference_impl.share import group_records
from touchstone.reference_impl.share.group import JOIN_EPOCH, LEAVE_EPOCH, Initials, ShareGroup
from touchstone.reference_impl.share.group_records import Stand
from touchstone.reference_impl.share.membership import Beat, HeartbeatResult, Membership, Settings
from touchstone.reference_impl.wire.errors import ErrorCode as E

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.cluster.replica import Replica

HeartbeatListener = Callable[[HeartbeatResult | ApiError, int], None]
_RETRY_MS = 30_000  # group.share.initialize.retry.interval.ms
SHARE, FEATURE = "share", "share.version"


class WrongGroupType(ApiError):
    """The id is that of a group of another kind."""

    def __init__(self, group_id: str) -> None:
        super().__init__(E.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")


class ShareGroups:
    """The share groups of one broker, by id, and the partitions that keep them."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.groups: dict[str, ShareGroup] = {}
        self.membership = Membership(lambda: topic_view(broker).topics, self._settings)
        self.runtime = CoordinatorRuntime(
            broker, "share group", OFFSETS, load=self._load, unload=self._unload
        )

    def _unload(self, kept: Collection[int], lost: Collection[int]) -> None:
        for group_id in list(self.groups):
            if self.runtime.partition_of(group_id) not in kept:
                del self.groups[group_id]

    def _load(self, index: int, replica: Replica, now: int) -> Load:
        found: dict[str, ShareGroup] = {}

        def done(at: int) -> None:
            """Sessions begin anew."""
            for group in found.values():
                for member in group.members.values():
                    member.expires = at + self._settings(group.id).session_ms
                self.groups[group.id] = group
                self._watch(group)

        return Load(lambda records: group_records.read(records, found, now), done)

    def enabled(self) -> bool:
        """Whether share groups are served: share.version is 1 unless somebody changed it."""
        return self._broker.room(Features).finalized().get(FEATURE, 0) > 0

    def is_shared(self, group_id: str) -> bool:
        """Whether this id is a share group's, and so no other kind of group's."""
        return group_id in self.groups

    def share_group(self, group_id: str) -> ShareGroup:
        """Raises ApiError where the id is nobody's, WrongGroupType where it is another's."""
        group = self.groups.get(group_id)
        if group is None:
            self._check_type(group_id)
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        return group

    def _check_type(self, group_id: str) -> None:
        """Raises WrongGroupType where another kind of group has the id."""
        if group_id in self._broker.room(Groups).coordinator.groups:
            raise WrongGroupType(group_id)

    def heartbeat(self, beat: Beat, now: int, then: HeartbeatListener) -> None:
        """`then(told or refused, now)` when it counts, perhaps before this returns."""
        try:
            group, told, before = self._apply_heartbeat(beat, now)
        except ApiError as refused:
            then(refused, now)
            return

        def kept(code: int, at: int) -> None:
            then(ApiError(code, "") if code else told, at)

        self.keep(beat.group_id, before, now, kept)
        self._watch(group)
        if told.initialise:
            self._initialise(group, told.initialise, group.epoch, now)

    def keep(
        self, group_id: str, before: Stand, now: int, then: Callable[[int, int], None]
    ) -> None:
        """Write down how the group differs from what it was; `then(code, now)` when that counts."""
        after = group_records.stand(self.groups.get(group_id))
        records = group_records.difference(before, after, now)
        if records is None:
            then(E.NONE, now)
            return
        self.runtime.append(self.runtime.partition_of(group_id), records, now, then)

    def started(self, group: ShareGroup, done: dict[bytes, frozenset[int]], now: int) -> None:
        """The share coordinator has these partitions of the group."""
        before = group_records.stand(group)
        self.membership.initialised(group, done, now)
        self.keep(group.id, before, now, nobody_waits)

    def heartbeat_interval(self, group_id: str) -> int:
        return group_settings.number(self._broker, group_id, "share.heartbeat.interval.ms")

    def forget_deleted(self, now: int) -> None:
        """Topics that are gone are nobody's to initialise or assign."""
        known = self._broker.cluster.by_id
        for group in list(self.groups.values()):
            gone = (group.initialised.keys() | group.initialising.keys()) - known.keys()
            gone |= group.deleting.keys() - known.keys()
            if gone:
                before = group_records.stand(group)
                for rows in (group.initialised, group.initialising, group.deleting):
                    for topic_id in gone & rows.keys():
                        del rows[topic_id]
                self.keep(group.id, before, now, nobody_waits)

    def _apply_heartbeat(self, beat: Beat, now: int) -> tuple[ShareGroup, HeartbeatResult, Stand]:
        groups = self.groups
        self.forget_deleted(now)
        group = groups.get(beat.group_id)
        before = group_records.stand(group)
        if beat.epoch == LEAVE_EPOCH:
            group = self.share_group(beat.group_id)
            self.membership.leave(group, beat.member_id)
            return group, HeartbeatResult(LEAVE_EPOCH), before
        if group is None:
            self._check_type(beat.group_id)
            if beat.epoch != JOIN_EPOCH:
                raise ApiError(E.GROUP_ID_NOT_FOUND, f"Share group {beat.group_id} not found.")
            group = ShareGroup(beat.group_id)
        told = self.membership.beat(group, beat, now)
        groups[beat.group_id] = group
        return group, told, before

    def _initialise(self, group: ShareGroup, wanted: Initials, epoch: int, now: int) -> None:
        places = {(topic, index) for topic, row in wanted.items() for index in row.partitions}
        done: dict[bytes, frozenset[int]] = {t: row.partitions for t, row in wanted.items()}
        failed: list[int] = []

        def told(place: tuple[bytes, int]) -> share_persister.AnswerListener:
            def then(answer: Answer, at: int) -> None:
                places.discard(place)
                if answer.code:
                    failed.append(answer.code)
                if places or self.groups.get(group.id) is not group:
                    return
                if failed:
                    self.membership.failed(group, done)
                else:
                    self.started(group, done, at)

            return then

        def ask(at: int) -> None:
            for place in sorted(places):
                key = (group.id, *place)
                share_persister.initialise(self._broker, key, epoch, -1, at, told(place))

        self._broker.soon(("share initialisation", group.id, epoch), ask)

    def _watch(self, group: ShareGroup) -> None:
        def due(now: int) -> None:
            if self.groups.get(group.id) is group:
                before = group_records.stand(group)
                self.membership.tick(group, now)
                self.keep(group.id, before, now, nobody_waits)
                self._watch(group)

        self.runtime.remind(group.id, group.deadline(), due)

    def _settings(self, group_id: str) -> Settings:
        return Settings(
            session_ms=group_settings.number(self._broker, group_id, "share.session.timeout.ms"),
            assignment_interval_ms=group_settings.number(
                self._broker, group_id, "share.assignment.interval.ms"
            ),
            max_size=self._broker.room(Groups).number("group.share.max.size"),
            retry_ms=_RETRY_MS,
        )


def leadership_changed(broker: Broker, now: int) -> None:
    """A partition of `__consumer_offsets` has another leader: load its groups, or unload them."""
    broker.room(ShareGroups).runtime.leadership_changed(now)
