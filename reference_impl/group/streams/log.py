"""What `log_records` needs of streams groups, in one place that is loaded when one is there.

Most brokers never see a streams group, and each module loaded makes every start longer.
"""

from __future__ import annotations

from touchstone.reference_impl.group.members import Group
from touchstone.reference_impl.group.streams import records
from touchstone.reference_impl.group.streams.group import STREAMS, StreamsGroup
from touchstone.reference_impl.wire import embedded
from touchstone.reference_impl.wire.embedded.streams_group_records import RECORDS
from touchstone.reference_impl.wire.interpreter import DecodeError


def read(groups: dict[str, Group], key: bytes, value: bytes | None, now: int) -> None:
    """Bring `groups` up to date with one record; what is of another kind is passed over."""
    try:
        kind, named = embedded.decode_key(RECORDS, key)
    except DecodeError:
        return
    group = groups.get(named["group_id"])
    if group is None or group.streams_group is None:
        if value is None:
            return
        if group is None:
            group = groups[named["group_id"]] = Group(named["group_id"], emptied_at_ms=now)
        group.streams_group, group.protocol_type = StreamsGroup(group.id), STREAMS
    body = None
    if value is not None:
        _, body = embedded.decode_value(RECORDS, kind, value)
    if not records.replay(group.streams_group, kind, named, body):
        del groups[group.id]


def tombstones(group: StreamsGroup) -> list[tuple[bytes, bytes | None]]:
    """For all that is kept of the group."""
    return [records.encoded(entry) for entry in records.group_tombstones(group)]
