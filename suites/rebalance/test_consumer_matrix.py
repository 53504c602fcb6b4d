"""The matrix of consumer groups: every request of a member in every state of that member.

One claim per cell, made from two tables: STATES (kit/consumer_groups.py) are the rows, REQUESTS the
columns. `consumer_words.py` holds each cell's answer, an error or the member epoch afterwards, and
the group's state after it.

Sources: KIP-848, KIP-1251; GroupMetadataManager@4.3.1; observed on 3.9.2 and
4.3.1.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from touchstone.harness.model.claim import claim, every, newest
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask
from touchstone.suites.kit import groups
from touchstone.suites.kit.consumer_groups import (
    AWAY,
    CLUSTER,
    CODE,
    EPOCH,
    LEAVE,
    SINCE_3_9,
    STATE,
    STATES,
    State,
    beat,
    describe,
    first_epoch,
    join,
    steps_into,
)
from touchstone.suites.rebalance.consumer_words import FIRST, WORDS, in_the_preview, lowered

MOVING = (
    "unknown", "left", "stable", "behind", "unrevoked", "revoked", "unreleased", "released",
    "settled", "away",
)  # fmt: skip
NAMED = ("left", "stable", "static", "away")
SAYING = ("stable", "unrevoked", "unreleased")
SEEN = ("unknown", "left", "stable", "behind", "unrevoked", "away")


class RequestContext(NamedTuple):
    """What a request is made of."""

    group: Any
    topic: Any
    state: State
    version: int

    def heartbeat(self, epoch: int = 0, owned: Any = None, **changes: Any) -> Ask:
        """The member's heartbeat in its epoch, or one that is so much off."""
        given = {"instance_id": self.state.instance, "version": self.version} | changes
        member, at = given.pop("member", self.state.member), self.state.epoch + epoch
        at = given.pop("at", max(at, 1))
        return beat(self.group, member, at, self.topic, owned, name="ask", **given)

    def classic(self, act: Callable[..., Ask], *args: Any, **how: Any) -> Ask:
        return act("x", self.group, *args, member=self.state.member, name="ask", **how)


class Request(NamedTuple):
    """A column."""

    name: str
    sentence: str
    asks: Callable[[RequestContext], Ask]
    api: str = "ConsumerGroupHeartbeat"
    code: str = CODE
    rows: tuple[str, ...] = ()

    @property
    def states(self) -> tuple[str, ...]:
        """The rows in which it is asked."""
        return self.rows or (MOVING if self.api == "ConsumerGroupHeartbeat" else SEEN)


def _again(s: RequestContext) -> Ask:
    return join(
        s.group, s.state.member, s.topic,
        name="ask", version=s.version, instance_id=s.state.instance,
    )  # fmt: skip


def _offsets(s: RequestContext, epoch: int, member: str | None = None) -> Ask:
    named = [{"name": s.topic, "partition_indexes": [0]}]
    one = {"group_id": s.group, "member_id": member, "member_epoch": epoch, "topics": named}
    return Ask("OffsetFetch", 9, {"groups": [one], "require_stable": False}, name="ask")


def _commit(s: RequestContext, epoch: int, member: str) -> Ask:
    return groups.commit("x", s.group, s.topic, epoch, member=member, version=9, name="ask")


REQUESTS = (
    Request("beat", "a heartbeat without owned partitions", lambda s: s.heartbeat()),
    Request(
        "owning", "a heartbeat that owns the assigned partitions",
        lambda s: s.heartbeat(0, s.state.told),
    ),
    Request("owning-nothing", "a heartbeat that owns no partition", lambda s: s.heartbeat(0, ())),
    Request(
        "owning-all", "a heartbeat that owns every partition",
        lambda s: s.heartbeat(0, (0, 1, 2, 3)),
    ),
    Request(
        "of-the-epoch-before", "a heartbeat in the previous epoch that owns the assignment",
        lambda s: s.heartbeat(owned=s.state.told, at=max(s.state.before, 1)),
    ),
    Request(
        "of-the-epoch-before-unowned", "a heartbeat in the previous epoch without owned partitions",
        lambda s: s.heartbeat(at=max(s.state.before, 1)),
    ),
    Request("of-a-later-epoch", "a heartbeat in a later epoch", lambda s: s.heartbeat(9)),
    Request("joining", "a join under its member id", _again),
    Request(
        "leaving", "a leaving heartbeat", lambda s: s.heartbeat(at=LEAVE),
    ),
    Request(
        "going-away", "a temporarily leaving heartbeat",
        lambda s: s.heartbeat(at=AWAY, instance_id=s.state.instance or "i1"),
        rows=NAMED,
    ),
    Request(
        "of-a-stranger", "a heartbeat with an unknown member id",
        lambda s: s.heartbeat(member="stranger"),
        rows=SAYING,
    ),
    Request(
        "of-another-instance", "a heartbeat with an unknown instance id",
        lambda s: s.heartbeat(instance_id="i9"),
        rows=NAMED,
    ),
    Request(
        "joining-as-the-instance", "a join with the instance id under another member id",
        lambda s: join(s.group, "m9", s.topic, name="ask", version=s.version, instance_id="i1"),
        rows=NAMED,
    ),
    Request(
        "narrower", "a heartbeat that subscribes to another topic instead",
        lambda s: s.heartbeat(subscribed_topic_names=["no such topic"]),
        rows=SAYING,
    ),
    Request(
        "elsewhere", "a heartbeat from another rack", lambda s: s.heartbeat(rack_id="r2"),
        rows=SAYING,
    ),
    Request(
        "by-range", "a heartbeat that prefers the range assignor",
        lambda s: s.heartbeat(server_assignor="range"),
        rows=SAYING,
    ),
    Request(
        "by-nobody", "a heartbeat that prefers an unknown assignor",
        lambda s: s.heartbeat(server_assignor="nope"),
        rows=SAYING,
    ),
    Request(
        "in-full", "a heartbeat with all fields of a join",
        lambda s: s.heartbeat(
            0, s.state.told, rebalance_timeout_ms=20_000, subscribed_topic_names=[s.topic]
        ),
        rows=SAYING,
    ),
    Request(
        "committing", "OffsetCommit in the member's epoch",
        lambda s: _commit(s, s.state.epoch, s.state.member), "OffsetCommit", groups.OFFSET_CODE,
    ),
    Request(
        "committing-before", "OffsetCommit in the previous epoch",
        lambda s: _commit(s, s.state.epoch - 1, s.state.member), "OffsetCommit", groups.OFFSET_CODE,
    ),
    Request(
        "committing-later", "OffsetCommit in a later epoch",
        lambda s: _commit(s, s.state.epoch + 9, s.state.member), "OffsetCommit", groups.OFFSET_CODE,
    ),
    Request(
        "committing-simply", "OffsetCommit without a member",
        lambda s: _commit(s, -1, ""), "OffsetCommit", groups.OFFSET_CODE,
    ),
    Request(
        "fetching", "OffsetFetch in the member's epoch",
        lambda s: _offsets(s, s.state.epoch, s.state.member), "OffsetFetch", "groups[0].error_code",
    ),
    Request(
        "fetching-before", "OffsetFetch in the previous epoch",
        lambda s: _offsets(s, s.state.epoch - 1, s.state.member), "OffsetFetch",
        "groups[0].error_code",
    ),
    Request(
        "deleting", "DeleteGroups", lambda s: groups.delete(s.group, name="ask"),
        "DeleteGroups", "results[0].error_code",
    ),
    Request(
        "deleting-offsets", "OffsetDelete",
        lambda s: groups.delete_offsets(s.group, s.topic, name="ask"), "OffsetDelete",
        "error_code",
    ),
    Request(
        "leaving-the-classic-way", "LeaveGroup of the member",
        lambda s: s.classic(groups.leave, version=3), "LeaveGroup", "members[0].error_code",
    ),
    Request(
        "beating-the-classic-way", "Heartbeat of the member",
        lambda s: s.classic(groups.heartbeat, s.state.epoch), "Heartbeat",
    ),
    Request(
        "syncing-the-classic-way", "SyncGroup of the member",
        lambda s: s.classic(groups.sync, s.state.epoch), "SyncGroup",
    ),
)  # fmt: skip


def _word(name: str) -> tuple[str, str]:
    answered, _, then = name.partition(" >")
    return answered, then.strip()


def _expected(request: Request, word: str) -> Any:
    answered, then = _word(word)
    place = answer("ask", request.code)
    if answered.lstrip("-").isdigit():
        first = all_of(place.is_(0), answer("ask", EPOCH).is_(int(answered)))
    else:
        first = place.is_(groups.code(answered))
    return all_of(first, answer("then", STATE).is_(then))


def _outcome(word: str) -> str:
    """A cell's word as the end of its sentence."""
    answered, then = _word(word)
    if answered.lstrip("-").isdigit():
        said = f"answers member epoch {answered}"
    else:
        said = "succeeds" if answered == "NONE" else f"answers {answered}"
    return f"{said} and the group is {then}" if then else f"{said} and there is no consumer group"


def _outcomes(word: str, earlier: str) -> str:
    """Both releases' ends of the sentence, where 3.9's is not just an epoch lower."""
    late, early = _outcome(word), _outcome(earlier)
    return late if earlier == lowered(word) else f"{late}; in 3.9 it {early}"


# On 3.9 the epoch before a member's first is 0, that of a join.
BEFORE = "of-the-epoch-before"
ON_4_3 = {"evidence": ("KIP-848", "observed on 4.3.1"), "releases": "4.3"}
VERSIONS = {True: every("ConsumerGroupHeartbeat"), False: newest("ConsumerGroupHeartbeat")}


def _cell(request: Request, state: State, word: str, earlier: str) -> Callable[[Any], None]:
    heartbeat = request.api == "ConsumerGroupHeartbeat"

    def test(case: Any) -> Any:
        group, topic, first = case.group(), case.topic(), first_epoch(case)
        version = case.version if heartbeat else 0
        s = RequestContext(group, topic, state.counted_from(first), version)
        return case.scenario(
            steps_into(state.name, group, topic, first),
            request.asks(s),
            describe(group, name="then"),
            expect=_expected(request, word if first == FIRST else earlier),
        )

    test.__doc__ = f"{state.sentence}, {request.sentence} {_outcomes(word, earlier)}."
    test.__module__ = __name__
    name = f"test_consumer_{request.name}_{state.name}".replace("-", "_")
    test.__name__ = test.__qualname__ = name
    return claim(
        f"rebalance.consumer-{request.name}-when-{state.name}",
        config=CLUSTER,
        **(ON_4_3 if request.name.startswith(BEFORE) and not state.before else SINCE_3_9),
        switches=SWITCHES.get((request.name, state.name), ()),
        **({"api": request.api, "versions": VERSIONS[state.name == "stable"]} if heartbeat else {}),
    )(test)


SWITCHES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("of-a-later-epoch", "stable"): ("member-epoch-not-fenced",),
}

for _request in REQUESTS:
    for _state in _request.states:
        if (_request.name, _state) in WORDS:
            _name = _request.name, _state
            _made = _cell(_request, STATES[_state], WORDS[_name], in_the_preview(_name))
            globals()[_made.__name__] = _made
del _made
