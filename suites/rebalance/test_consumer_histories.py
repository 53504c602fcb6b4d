"""Histories of consumer groups: heartbeats of one to six members in a row, each answered as by
Kafka.

Sources: KIP-848; `consumer_histories.py`; observed on 4.3.1.
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import answer
from touchstone.suites.kit.consumer_groups import (
    AWAY,
    CLUSTER,
    LEAVE,
    PREVIEW,
    STATE,
    beat,
    describe,
    first_epoch,
    join,
    started,
)
from touchstone.suites.rebalance.consumer_histories import HISTORIES

NUMBERED = {f"{number:02}": script for number, script in enumerate(HISTORIES, 1)}
SIX = 6


def played(group, topic, script, version, earlier):
    """The heartbeats of a script, in epochs so much earlier."""
    static, steps = set(), []
    for at, word in enumerate(script.split()):
        who, name = word.strip("+@-~")[0], f"{at} {word}"
        static |= {who} if word[0] == "@" else set()
        how = {"instance_id": f"i{who}" if who in static else None, "version": version}
        if word[0] in "+@":
            static -= {who} if word[0] == "+" else set()
            how["instance_id"] = f"i{who}" if who in static else None
            steps.append(join(group, f"m{who}", topic, name=name, **how))
        elif word[0] in "-~":
            epoch = LEAVE if word[0] == "-" else AWAY
            steps.append(beat(group, f"m{who}", epoch, name=name, **how))
        else:
            epoch, _, owned = word[2:].partition(":")
            held = [int(each) for each in owned.strip("-")] if owned else None
            steps.append(
                beat(group, f"m{who}", int(epoch) - earlier, topic, held, name=name, **how)
            )
    return steps


@claim(
    "rebalance.consumer-histories-are-kafkas",
    evidence=("KIP-848", "GROUP-25", "observed on 3.9.2, 4.3.1"),
    api="ConsumerGroupHeartbeat",
    versions=every("ConsumerGroupHeartbeat"),
    releases="3.9+",
    config=CLUSTER,
    only_on=PREVIEW,
    switches=("partition-given-to-two-members",),
    script=NUMBERED,
)
def test_consumer_histories_are_kafkas(case):
    """A consumer group of up to six members that join, leave, lag and revoke answers each heartbeat
    as Kafka does.
    """
    group, topic = case.group(), case.topic()
    return case.scenario(
        started(group, topic, SIX),
        played(group, topic, NUMBERED[case.script], case.version, 2 - first_epoch(case)),
        describe(group, name="at last"),
        expect=answer("at last", STATE).is_one_of("Empty", "Assigning", "Reconciling", "Stable"),
    )
