"""Offsets of a consumer group of KIP-848: a member's epoch stands where a generation stood.

Sources: ConsumerGroup.validateOffsetCommit, validateOffsetFetch at 4.3; KIP-848, KIP-1251.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Until
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.consumer_groups import LEAVE, PREVIEW, beat, first_epoch, join
from touchstone.suites.kit.groups import delete_offsets
from touchstone.suites.kit.offsets import (
    CLUSTER,
    CODE,
    FIRST_WITH_MEMBER,
    NOTHING,
    OFFSET,
    a_group,
    commit,
    fetch,
    fetched,
)

MEMBER = "member-of-this-group-00"
COUNTED = {"config": CLUSTER, "releases": "3.9+", "only_on": PREVIEW}
COMMITS = COUNTED | {"api": "OffsetCommit", "versions": range_("OffsetCommit", 2)}
FETCHES = COUNTED | {"api": "OffsetFetch", "versions": range_("OffsetFetch", FIRST_WITH_MEMBER)}


def version_of(case):
    """The newest version of ConsumerGroupHeartbeat."""
    return 0 if case.release == "3.9" else 1


def joined(case, group, topic):
    """The member joined with its first epoch (observed on 3.9.2, 4.3.1)."""
    asked = join(group, MEMBER, topic, name="joined", version=version_of(case))
    return Until(asked, "member_epoch", "==", first_epoch(case))


@claim(
    "offsets.members-of-consumer-groups-commit-in-their-epoch",
    evidence=("KIP-848", "observed on 3.9.2, 4.3.1"),
    who=("own", "older", "newer", "stranger", "nobody"),
    full=True,
    **COMMITS,
)
def test_members_of_consumer_groups_commit_in_their_epoch(case):
    """OffsetCommit of a consumer group member since version 9 answers STALE_MEMBER_EPOCH for
    another epoch and UNKNOWN_MEMBER_ID for another member; in older versions the member itself
    gets UNSUPPORTED_VERSION."""
    topic, group, steps = a_group(case)
    first = first_epoch(case)
    member, epoch = {
        "own": (MEMBER, first),
        "older": (MEMBER, first - 1),
        "newer": (MEMBER, first + 1),
        "stranger": ("nobody", first),
        "nobody": ("", -1),
    }[case.who]
    code = {
        "own": ErrorCode.NONE,
        "older": ErrorCode.STALE_MEMBER_EPOCH,
        "newer": ErrorCode.STALE_MEMBER_EPOCH,
    }.get(case.who, ErrorCode.UNKNOWN_MEMBER_ID)
    if case.version < FIRST_WITH_MEMBER and member == MEMBER:
        code = ErrorCode.UNSUPPORTED_VERSION
    return case.scenario(
        steps,
        joined(case, group, topic),
        commit(group, topic, member=member, generation=epoch, version=case.version, name="ask"),
        fetch(group, topic, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(code),
            answer("after", OFFSET).is_(NOTHING if code else 7),
        ),
    )


@claim(
    "offsets.members-of-consumer-groups-fetch-in-their-epoch",
    evidence=("KIP-848", "observed on 3.9.2, 4.3.1"),
    who=("own", "older", "newer", "stranger", "nobody", "unnamed"),
    full=True,
    **FETCHES,
)
def test_members_of_consumer_groups_fetch_in_their_epoch(case):
    """OffsetFetch that names a consumer group member answers STALE_MEMBER_EPOCH for another epoch
    and UNKNOWN_MEMBER_ID for another member; one without a member is answered."""
    topic, group, steps = a_group(case)
    first = first_epoch(case)
    member, epoch = {
        "own": (MEMBER, first),
        "older": (MEMBER, first - 1),
        "newer": (MEMBER, first + 1),
        "stranger": ("nobody", first),
        "nobody": (None, -1),
        "unnamed": ("", first),
    }[case.who]
    codes = {
        "own": ErrorCode.NONE,
        "older": ErrorCode.STALE_MEMBER_EPOCH,
        "newer": ErrorCode.STALE_MEMBER_EPOCH,
        "nobody": ErrorCode.NONE,
    }
    code = codes.get(case.who, ErrorCode.UNKNOWN_MEMBER_ID)
    return case.scenario(
        steps,
        joined(case, group, topic),
        commit(group, topic, member=MEMBER, generation=first_epoch(case), version=9, name="sent"),
        fetch(group, topic, member=member, epoch=epoch, version=case.version, name="ask"),
        expect=all_of(
            answer("ask", fetched("error_code", case.version)).is_(code),
            answer("ask", fetched("topics[*].partitions[*].committed_offset", case.version)).is_(
                [[7]] if code == ErrorCode.NONE else []
            ),
        ),
    )


@claim(
    "offsets.consumer-groups-keep-subscribed-topics",
    evidence=("KIP-848", "KIP-496"),
    api="OffsetDelete",
    versions=range_("OffsetDelete", 0),
    **COUNTED,
)
def test_consumer_groups_keep_subscribed_topics(case):
    """OffsetDelete answers GROUP_SUBSCRIBED_TO_TOPIC for a topic that a consumer group member
    subscribes to, and deletes its offsets once the member has left."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        joined(case, group, topic),
        commit(group, topic, member=MEMBER, generation=first_epoch(case), version=9, name="sent"),
        delete_offsets(group, topic, name="ask"),
        beat(group, MEMBER, LEAVE, name="left", version=version_of(case)),
        delete_offsets(group, topic, name="empty"),
        fetch(group, topic, name="after"),
        expect=all_of(
            answer("ask", CODE).is_(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC),
            answer("empty", CODE).is_(ErrorCode.NONE),
            answer("after", OFFSET).is_(NOTHING),
        ),
    )


@claim(
    "offsets.consumer-groups-that-were-left-are-simple",
    evidence=("KIP-848", "OFFS-10"),
    **COMMITS,
)
def test_consumer_groups_that_were_left_are_simple(case):
    """OffsetCommit without a member epoch is stored for a consumer group that has no members."""
    topic, group, steps = a_group(case)
    return case.scenario(
        steps,
        joined(case, group, topic),
        beat(group, MEMBER, LEAVE, name="left", version=version_of(case)),
        commit(group, topic, version=case.version, name="ask"),
        fetch(group, topic, name="after"),
        expect=all_of(answer("ask", CODE).is_(ErrorCode.NONE), answer("after", OFFSET).is_(7)),
    )
