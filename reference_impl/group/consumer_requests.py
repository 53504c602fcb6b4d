"""A total table says who may ask what of a consumer group: (requester, request) -> (what to do).

A request is looked at in two ways before it changes anything: how whoever sends it stands to the
group, and what it asks, measured by that member's epoch. The cell says what is done or with which
code it is refused. Where nobody is there whose epoch could be compared, every epoch is the plain
request. Classic members that are told to join again are `classic_members.py`'s, not this table's.

Sources: KIP-848, KIP-1251; GroupMetadataManager, ConsumerGroup.validateOffsetCommit@4.3.1;
observed on 4.3.1, cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from touchstone.reference_impl.group.consumer_group import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerGroup,
    ConsumerMember,
    TopicIdPartition,
)
from touchstone.reference_impl.group.heartbeat import Beat
from touchstone.reference_impl.tables import Table
from touchstone.reference_impl.wire.errors import ErrorCode as E


class Requester(Enum):
    NOBODY = "the group has no members"
    NON_MEMBER = "the group has members, and this is none of them"
    OUSTED = "its instance id is another member's"
    STRANDED = "its instance id was last that of a member who is gone"
    AWAY = "a static member that is away"
    CONSUMER = "a member that speaks the consumer protocol"
    CLASSIC = "a member that speaks the classic protocol"


class RequestKind(Enum):
    JOIN = "a heartbeat of epoch 0"
    JOIN_AGAIN = "a heartbeat of epoch 0, without an instance id, of a member past its first epoch"
    JOIN_IN_PLACE = "a heartbeat of epoch 0 with this member's instance id"
    JOIN_CLASSIC = "a JoinGroup"
    JOIN_CLASSIC_IN_PLACE = "a JoinGroup with this member's instance id"
    BEAT = "a heartbeat of the member's epoch"
    BEAT_LOST = "a heartbeat of the epoch before, owning no more than the member has"
    BEAT_BEFORE = "another heartbeat of an earlier epoch"
    BEAT_LATER = "a heartbeat of a later epoch"
    LEAVE = "a heartbeat of epoch -1: the member leaves"
    GO_AWAY = "a heartbeat of epoch -2: the static member goes away"
    SILENCE = "a deadline of the member has passed"
    COMMIT = "a commit in the member's epoch"
    COMMIT_HELD = "a commit in an earlier epoch, of what the member has had since"
    COMMIT_BEFORE = "another commit in an earlier epoch"
    COMMIT_LATER = "a commit in a later epoch"
    COMMIT_SIMPLE = "a commit without an epoch, of no member"
    FETCH = "offsets are fetched in the member's epoch"
    FETCH_OTHER = "offsets are fetched in another epoch"
    FETCH_SIMPLE = "offsets are fetched by nobody"


class Do(Enum):
    ADMIT = "another member"
    GO_ON = "the member goes on"
    REPLACE = "the member goes on under the id that asks"
    KEEP_PLACE = "what it has is kept for its instance id"
    REMOVE = "the member is out"
    SERVE = "offsets are taken or told"
    IMPOSSIBLE = "cannot happen"


class Cell(NamedTuple):
    do: Do | E


def _row(
    standing: Requester, cells: dict[RequestKind, Do | E]
) -> dict[tuple[Requester, RequestKind], Cell]:
    """The row of one requester; requests that are not named cannot happen."""
    return {(standing, asked): Cell(cells.get(asked, Do.IMPOSSIBLE)) for asked in RequestKind}


_A, _D = RequestKind, Do


def _member(stale: E, *, in_place: Do | E) -> dict[RequestKind, Do | E]:
    """A member that is there; `stale`: what its commits in wrong epochs are."""
    return {
        _A.JOIN: _D.GO_ON,
        _A.JOIN_AGAIN: _D.GO_ON,
        _A.JOIN_IN_PLACE: in_place,
        _A.JOIN_CLASSIC: _D.GO_ON,
        _A.JOIN_CLASSIC_IN_PLACE: _D.REPLACE,
        _A.BEAT: _D.GO_ON,
        _A.BEAT_LOST: _D.GO_ON,
        _A.BEAT_BEFORE: E.FENCED_MEMBER_EPOCH,
        _A.BEAT_LATER: E.FENCED_MEMBER_EPOCH,
        _A.LEAVE: _D.REMOVE,
        _A.GO_AWAY: _D.KEEP_PLACE,
        _A.SILENCE: _D.REMOVE,
        _A.COMMIT: _D.SERVE,
        _A.COMMIT_HELD: _D.SERVE,
        _A.COMMIT_BEFORE: stale,
        _A.COMMIT_LATER: stale,
        _A.FETCH: _D.SERVE,
        _A.FETCH_OTHER: stale,
    }


_UNKNOWN: dict[RequestKind, Do | E] = dict.fromkeys(
    (_A.BEAT, _A.LEAVE, _A.GO_AWAY, _A.COMMIT, _A.COMMIT_SIMPLE, _A.FETCH), E.UNKNOWN_MEMBER_ID
)
_EPOCHLESS = (_A.BEAT, _A.BEAT_LOST, _A.BEAT_BEFORE)  # an epoch of -2 is no heartbeat's
REQUESTS: Table[Requester, RequestKind, Cell] = Table(
    Requester,
    RequestKind,
    {
        **_row(
            Requester.NOBODY,
            _UNKNOWN | {_A.JOIN: _D.ADMIT, _A.COMMIT_SIMPLE: _D.SERVE, _A.FETCH_SIMPLE: _D.SERVE},
        ),
        **_row(
            Requester.NON_MEMBER,
            _UNKNOWN | {_A.JOIN: _D.ADMIT, _A.JOIN_CLASSIC: _D.ADMIT, _A.FETCH_SIMPLE: _D.SERVE},
        ),
        **_row(
            Requester.OUSTED,
            dict.fromkeys((_A.BEAT, _A.LEAVE, _A.GO_AWAY), E.FENCED_INSTANCE_ID),
        ),
        **_row(
            Requester.STRANDED,
            dict.fromkeys(
                (_A.JOIN_IN_PLACE, _A.JOIN_CLASSIC_IN_PLACE, _A.BEAT, _A.LEAVE, _A.GO_AWAY),
                E.UNKNOWN_MEMBER_ID,
            ),
        ),
        **_row(
            Requester.AWAY,
            _member(E.STALE_MEMBER_EPOCH, in_place=_D.REPLACE)
            | dict.fromkeys(_EPOCHLESS, _D.IMPOSSIBLE),
        ),
        **_row(
            Requester.CONSUMER, _member(E.STALE_MEMBER_EPOCH, in_place=E.UNRELEASED_INSTANCE_ID)
        ),
        **_row(Requester.CLASSIC, _member(E.ILLEGAL_GENERATION, in_place=_D.REPLACE)),
    },
)
# The preview of the protocol compares epochs wherever a member has one: with a join, which may only
# repeat the one that made the member (its answer was lost), and with a commit, whatever is in it.
_EPOCHS = {
    (who, asked): Cell(code)
    for who, code in (
        (Requester.AWAY, E.STALE_MEMBER_EPOCH),
        (Requester.CONSUMER, E.STALE_MEMBER_EPOCH),
        (Requester.CLASSIC, E.ILLEGAL_GENERATION),
    )
    for asked, code in ((_A.JOIN_AGAIN, E.FENCED_MEMBER_EPOCH), (_A.COMMIT_HELD, code))
}
PREVIEW: Table[Requester, RequestKind, Cell] = Table(
    Requester, RequestKind, {key: REQUESTS.peek(*key) for key in REQUESTS} | _EPOCHS
)
JOINS = {  # by (classic, in a static member's place)
    (False, False): RequestKind.JOIN,
    (False, True): RequestKind.JOIN_IN_PLACE,
    (True, False): RequestKind.JOIN_CLASSIC,
    (True, True): RequestKind.JOIN_CLASSIC_IN_PLACE,
}


def requests(group: ConsumerGroup) -> Table[Requester, RequestKind, Cell]:
    """The table of the group's release."""
    return PREVIEW if group.rules.compares_epochs else REQUESTS


def standing(
    group: ConsumerGroup, member: ConsumerMember | None, holder: str | None = None
) -> Requester:
    """`holder`: the member id that an instance id stands for."""
    if member is None and holder is not None:
        return Requester.STRANDED
    if member is None:
        return Requester.NON_MEMBER if group.members else Requester.NOBODY
    if member.classic is not None:
        return Requester.CLASSIC
    return Requester.AWAY if member.epoch == STATIC_LEAVE_EPOCH else Requester.CONSUMER


def sender(group: ConsumerGroup, beat: Beat) -> tuple[Requester, ConsumerMember | None]:
    """The sender of a heartbeat that is no join: by the instance id where one is given."""
    if beat.instance_id is None:
        member = group.members.get(beat.member_id)
        return standing(group, member), member
    holder = group.instances.get(beat.instance_id)
    if holder is None:
        return standing(group, None), None
    member = group.members.get(holder)
    ousted = member is not None and holder != beat.member_id
    return (Requester.OUSTED if ousted else standing(group, member, holder)), member


def said(beat: Beat, where: Requester, member: ConsumerMember | None) -> RequestKind:
    """The request that a heartbeat makes that is no join."""
    if beat.epoch == LEAVE_EPOCH:
        return RequestKind.LEAVE
    if beat.epoch == STATIC_LEAVE_EPOCH:
        return RequestKind.GO_AWAY
    if member is None or where is Requester.OUSTED or beat.epoch == member.epoch:
        return RequestKind.BEAT
    if beat.epoch > member.epoch:
        return RequestKind.BEAT_LATER
    lost = (  # the answer with the newer epoch never came
        beat.epoch == member.previous_epoch
        and beat.owned is not None
        and beat.owned <= member.assigned.keys()
    )
    return RequestKind.BEAT_LOST if lost else RequestKind.BEAT_BEFORE


def check_commit(
    group: ConsumerGroup, member_id: str, epoch: int, places: Iterable[TopicIdPartition]
) -> int:
    """The error of such a commit, NONE if it is taken.

    An older epoch will do where every partition was the member's in it already (KIP-1251).
    """
    member = group.members.get(member_id)
    if member is None:
        given = RequestKind.COMMIT_SIMPLE if epoch < 0 else RequestKind.COMMIT
    elif epoch == member.epoch:
        given = RequestKind.COMMIT
    elif epoch > member.epoch:
        given = RequestKind.COMMIT_LATER
    else:
        held = member.assigned | member.revoking
        mine = all(place in held and held[place] <= epoch for place in places)
        given = RequestKind.COMMIT_HELD if mine else RequestKind.COMMIT_BEFORE
    return _served(group, member, given)


def check_fetch(group: ConsumerGroup, member_id: str | None, epoch: int) -> int:
    """The error of a fetch of offsets with this id and epoch, NONE if it is answered."""
    if member_id is None and epoch < 0:
        return _served(group, None, RequestKind.FETCH_SIMPLE)
    member = group.members.get(member_id or "")
    same = member is None or epoch == member.epoch
    return _served(group, member, RequestKind.FETCH if same else RequestKind.FETCH_OTHER)


def _served(group: ConsumerGroup, member: ConsumerMember | None, given: RequestKind) -> int:
    do = requests(group)[standing(group, member), given].do
    return do if isinstance(do, E) else E.NONE
