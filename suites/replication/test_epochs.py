"""Leader epochs after elections: in batches, in OffsetForLeaderEpoch, and as a fence for clients.

The assignment is (1, 2): broker 1 leads, broker 2 follows and takes over when broker 1 stops.

Sources: LeaderEpochFileCache, Partition.lastOffsetForLeaderEpoch and checkCurrentLeaderEpoch (1.0.2
to 4.3.1), KIP-101, KIP-279, KIP-320; clauses APPEND-16, REPL-21, REPL-22.
"""

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, batches, by_release
from touchstone.harness.model.steps import offset_for_leader_epoch, start_broker, stop_broker
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, THREE, TWO
from touchstone.suites.kit.three_brokers import (
    MARK,
    OFFSET_CODE,
    READ,
    SHORT_SESSIONS,
    SHORT_SESSIONS_UNHARMED,
    a_log,
    end,
    marked,
    on,
    read,
    refused,
    until_led,
    write,
)

UNDEFINED = -1
FENCING = {"Fetch": 9, "ListOffsets": 4, "OffsetForLeaderEpoch": 2}


def epoch_end(case, topic, epoch, *, at, **how):
    """Where an epoch ended, by the newest version that all but 1.0 have."""
    version = 0 if case.release == "1.0" else FENCING["OffsetForLeaderEpoch"]
    how.setdefault("name", f"epoch {epoch}")
    return offset_for_leader_epoch(topic, 0, epoch, version=version, broker=at, **how)


def taken_over(case, topic, *more):
    """Broker 2 leads what broker 1 led, by one election."""
    return [
        a_log(topic, (1, 2), ONE, TWO),
        stop_broker(1),
        until_led(case, topic, 2, [2]),
        write(topic, THREE, to=2),
        *more,
    ]


@claim("replication.each-election-is-an-epoch", evidence=("APPEND-16", "CTL-13"), **SHORT_SESSIONS)
def test_each_election_is_an_epoch(case):
    """A leader stamps its leader epoch into the batches that it appends, and each election raises
    it.
    """
    name = case.topic()
    return case.scenario(
        taken_over(case, name),
        start_broker(1),
        until_led(case, name, 2, [2, 1], "joined"),
        stop_broker(2),
        until_led(case, name, 1, [1], "again"),
        write(name, ONE, name="last"),
        marked(name, 4),
        expect=all_of(
            batches("read", "[0].partition_leader_epoch").is_(0),
            batches("read", "[2].partition_leader_epoch").is_(1),
            batches("read", "[3].partition_leader_epoch").is_(2),
        ),
    )


@claim(
    "replication.an-epoch-ends-where-the-next-begins",
    evidence=("REPL-22", "KIP-101", "KIP-279"),
    api="OffsetForLeaderEpoch",
    versions=only("OffsetForLeaderEpoch", 2),
    **SHORT_SESSIONS,
)
def test_an_epoch_ends_where_the_next_begins(case):
    """OffsetForLeaderEpoch on a new leader answers where its predecessor's epoch ended, its own log
    end for its own epoch, and -1 for a later epoch.
    """
    name = case.topic()
    ends = [answer(f"epoch {n}", "topics[0].partitions[0].end_offset") for n in range(3)]
    return case.scenario(
        taken_over(case, name),
        [epoch_end(case, name, epoch, at=2) for epoch in (0, 1, 2)],
        expect=all_of(ends[0].is_(2), ends[1].is_(3), ends[2].is_(UNDEFINED)),
    )


@claim(
    "replication.an-old-answer-about-epochs",
    evidence=("REPL-22", "KIP-101"),
    api="OffsetForLeaderEpoch",
    versions=only("OffsetForLeaderEpoch", 0),
    **SHORT_SESSIONS,
)
def test_an_old_answer_about_epochs(case):
    """OffsetForLeaderEpoch version 0, which followers of 1.0 use, answers the end offset of each
    epoch and -1 for a later epoch.
    """
    name = case.topic()
    asked = [
        offset_for_leader_epoch(name, 0, epoch, version=0, broker=2, name=f"epoch {epoch}")
        for epoch in (0, 1, 2)
    ]
    ends = [answer(f"epoch {n}", "topics[0].partitions[0].end_offset") for n in range(3)]
    return case.scenario(
        taken_over(case, name),
        asked,
        expect=all_of(ends[0].is_(2), ends[1].is_(3), ends[2].is_(UNDEFINED)),
    )


@claim(
    "replication.epochs-fence-after-an-election",
    evidence=("KIP-320",),
    **on("2.2+", SHORT_SESSIONS),
)
def test_epochs_fence_after_an_election(case):
    """After an election an older leader epoch in a request answers FENCED_LEADER_EPOCH, a later one
    UNKNOWN_LEADER_EPOCH, and the current one succeeds.
    """
    name = case.topic()
    fetched = [
        read(name, at=2, name=f"fetch {e}", version=FENCING["Fetch"], current_leader_epoch=e)
        for e in (0, 1, 2)
    ]
    listed = [
        end(name, at=2, name=f"list {e}", version=FENCING["ListOffsets"], current_leader_epoch=e)
        for e in (0, 1, 2)
    ]
    told = [
        epoch_end(case, name, 0, at=2, name=f"epoch with {e}", current_leader_epoch=e)
        for e in (0, 1, 2)
    ]
    codes = dict(enumerate((ErrorCode.FENCED_LEADER_EPOCH, 0, ErrorCode.UNKNOWN_LEADER_EPOCH)))
    return case.scenario(
        taken_over(case, name, fetched, listed, told),
        expect=all_of(
            *(answer(f"fetch {e}", f"{READ}.error_code").is_(code) for e, code in codes.items()),
            *(answer(f"list {e}", OFFSET_CODE).is_(code) for e, code in codes.items()),
            *(answer(f"epoch with {e}", OFFSET_CODE).is_(code) for e, code in codes.items()),
        ),
    )


@claim("replication.an-old-leader-fences-too", evidence=("KIP-320", "REPL-21"), **SHORT_SESSIONS)
def test_an_old_leader_fences_too(case):
    """A former leader that returns as a follower answers NOT_LEADER_OR_FOLLOWER, or
    FENCED_LEADER_EPOCH to a Fetch with its old leader epoch.
    """
    name = case.topic()
    version = 4 if case.release == "1.0" else FENCING["Fetch"]
    return case.scenario(
        taken_over(case, name),
        start_broker(1),
        until_led(case, name, 2, [2, 1], "joined"),
        read(name, at=1, name="without", version=version),
        read(name, at=1, name="with", version=version, current_leader_epoch=0),
        write(name, ONE, name="old"),
        expect=all_of(
            answer("without", f"{READ}.error_code").is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
            by_release(
                {
                    "1.0": answer("with", f"{READ}.error_code").is_(
                        ErrorCode.NOT_LEADER_OR_FOLLOWER
                    ),
                    "2.2+": answer("with", f"{READ}.error_code").is_(ErrorCode.FENCED_LEADER_EPOCH),
                }
            ),
            refused("old", ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ),
    )


@claim("replication.fetches-diverge-by-epoch", evidence=("REPL-22", "KIP-595"),
       api="Fetch", versions=only("Fetch", 12), **on("2.8+", SHORT_SESSIONS_UNHARMED))  # fmt: skip
def test_fetches_diverge_by_epoch(case):
    """A Fetch beyond the end of its last fetched epoch answers diverging_epoch; one with an epoch
    that the leader never had answers OFFSET_OUT_OF_RANGE.
    """
    name = case.topic()
    steps = []
    for number, (offset, epoch) in enumerate(((2, 0), (3, 0), (2, 1))):
        asked = read(name, offset, name=f"fetch {number}", version=12)
        asked.body["topics"][0]["partitions"][0]["last_fetched_epoch"] = epoch
        steps.append(asked)
    return case.scenario(
        a_log(name, (1, 2), ONE, TWO),
        marked(name, 2),
        steps,
        expect=all_of(
            answer("read", MARK).is_(2),
            answer("fetch 0", f"{READ}.error_code").is_(ErrorCode.NONE),
            answer("fetch 0", f"{READ}.diverging_epoch.end_offset").is_(UNDEFINED),
            answer("fetch 1", f"{READ}.diverging_epoch.epoch").is_(0),
            answer("fetch 1", f"{READ}.diverging_epoch.end_offset").is_(2),
            answer("fetch 2", f"{READ}.error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE),
        ),
    )
