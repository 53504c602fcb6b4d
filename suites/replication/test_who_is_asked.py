"""Requests to the wrong broker: a follower, or a broker without a replica; and fetches by brokers
that hold no replica.

Nothing is harmed. The assignment is (1, 2), so broker 0 has no replica.

Sources: ReplicaManager.appendToLocalLog, fetchMessages, getPartitionOrError (1.0.2 to 4.3.1),
KIP-392 (consumers may read from followers); clauses APPEND-02, APPEND-21, REPL-06, REPL-20.
"""

from touchstone.harness.model.claim import claim, every, only, range_
from touchstone.harness.model.expect import all_of, answer, by_release, outcome, records
from touchstone.harness.model.steps import delete_records, pause_broker, resume_broker
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, TWO
from touchstone.suites.kit.three_brokers import (
    MARK,
    OFFSET_CODE,
    READ,
    SHORT_LAG_UNHARMED,
    SHORT_SESSIONS,
    SHORT_SESSIONS_UNHARMED,
    WRITTEN,
    a_log,
    end,
    follow,
    marked,
    read,
    write,
)
from touchstone.suites.kit.topics import among
from touchstone.suites.replication.test_epochs import epoch_end

FROM_FOLLOWERS = 11
ASKED = {"broker": (0, 2), **SHORT_SESSIONS_UNHARMED}


@claim("replication.only-the-leader-appends", evidence=("APPEND-02",), api="Produce",
       versions=only("Produce", 3), acks=(-1, 1), **SHORT_SESSIONS_UNHARMED)  # fmt: skip
def test_only_the_leader_appends(case):
    """Produce to a follower or to a broker without a replica answers NOT_LEADER_OR_FOLLOWER (1.0:
    UNKNOWN_TOPIC_OR_PARTITION from a broker without a replica).
    """
    name = case.topic()
    codes = [answer(step, f"{WRITTEN}.error_code") for step in ("follower", "stranger")]
    return case.scenario(
        a_log(name, (1, 2), ONE),
        write(name, TWO, to=2, acks=case.acks, name="follower"),
        write(name, TWO, to=0, acks=case.acks, name="stranger"),
        marked(name, 1),
        expect=all_of(
            codes[0].is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
            by_release(
                {
                    "1.0": codes[1].is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
                    "2.2+": codes[1].is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
                }
            ),
        ),
    )


@claim("replication.acks-none-tells-by-closing", evidence=("APPEND-21",), api="Produce",
       versions=only("Produce", 3), **SHORT_SESSIONS_UNHARMED)  # fmt: skip
def test_acks_none_tells_by_closing(case):
    """A follower closes the connection of a Produce with acks=0, so that the producer looks for the
    leader.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        write(name, TWO, to=2, acks=0, name="told", connection="producer", answer=True),
        marked(name, 1),
        expect=outcome("told").is_one_of("closed", "reset"),
    )


@claim(
    "replication.only-the-leader-tells-offsets",
    evidence=("REPL-20", "META-05"),
    api="ListOffsets",
    versions=every("ListOffsets"),
    where=among(1, 4),
    **SHORT_SESSIONS_UNHARMED,
)
def test_only_the_leader_tells_offsets(case):
    """ListOffsets to a follower or to a broker without a replica answers NOT_LEADER_OR_FOLLOWER
    (1.0: UNKNOWN_TOPIC_OR_PARTITION from a broker without a replica).
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        end(name, at=2, name="follower", version=case.version),
        end(name, at=0, name="stranger", version=case.version),
        expect=all_of(
            answer("follower", OFFSET_CODE).is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
            by_release(
                {
                    "1.0": answer("stranger", OFFSET_CODE).is_(
                        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    ),
                    "2.2+": answer("stranger", OFFSET_CODE).is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
                }
            ),
        ),
    )


@claim(
    "replication.only-the-leader-deletes-records",
    evidence=("KIP-107",),
    api="DeleteRecords",
    versions=only("DeleteRecords", 0),
    **SHORT_SESSIONS_UNHARMED,
)
def test_only_the_leader_deletes_records(case):
    """DeleteRecords to a follower answers NOT_LEADER_OR_FOLLOWER."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        delete_records(name, 0, 1, broker=2, name="follower"),
        delete_records(name, 0, 1, broker=0, name="stranger"),
        expect=answer("follower", OFFSET_CODE).is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
    )


@claim(
    "replication.only-the-leader-knows-epochs",
    evidence=("KIP-101", "KIP-320"),
    **SHORT_SESSIONS_UNHARMED,
)
def test_only_the_leader_knows_epochs(case):
    """OffsetForLeaderEpoch to a follower answers NOT_LEADER_OR_FOLLOWER."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        epoch_end(case, name, 0, at=1, name="leader"),
        epoch_end(case, name, 0, at=2, name="follower"),
        epoch_end(case, name, 0, at=0, name="stranger"),
        expect=all_of(
            answer("leader", OFFSET_CODE).is_(ErrorCode.NONE),
            answer("follower", OFFSET_CODE).is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ),
    )


@claim(
    "replication.consumers-of-old-versions-need-the-leader",
    evidence=("KIP-392", "REPL-06"),
    api="Fetch",
    versions=range_("Fetch", 4, 10),
    where=among(4, 9, 10),
    **SHORT_SESSIONS_UNHARMED,
)
def test_consumers_of_old_versions_need_the_leader(case):
    """Before version 11 a consumer's Fetch to a follower answers NOT_LEADER_OR_FOLLOWER."""
    name = case.topic()
    codes = [answer(step, f"{READ}.error_code") for step in ("leader", "follower", "stranger")]
    return case.scenario(
        a_log(name, (1, 2), ONE),
        read(name, name="leader", version=case.version),
        read(name, at=2, name="follower", version=case.version),
        read(name, at=0, name="stranger", version=case.version),
        expect=all_of(
            codes[0].is_(ErrorCode.NONE),
            codes[1].is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
            by_release(
                {
                    "1.0": codes[2].is_(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
                    "2.2+": codes[2].is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
                }
            ),
        ),
    )


@claim("replication.consumers-may-read-followers", evidence=("KIP-392",),
       api="Fetch", versions=range_("Fetch", FROM_FOLLOWERS), where=among(11, 12, 13, 16),
       **SHORT_SESSIONS_UNHARMED)  # fmt: skip
def test_consumers_may_read_followers(case):
    """From Fetch version 11 on a follower serves consumers; a broker without a replica does not."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE, TWO),
        marked(name, 2, at=2, name="follower", version=case.version),
        read(name, at=0, name="stranger", version=case.version),
        expect=all_of(
            records("follower", "[1].value").is_(TWO),
            answer("stranger", f"{READ}.error_code").is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ),
    )


@claim("replication.a-follower-shows-what-is-in-sync", evidence=("KIP-392", "REPL-09"),
       api="Fetch", versions=only("Fetch", 11), switches=("follower-reads-past-hw",),
       **SHORT_SESSIONS)  # fmt: skip
def test_a_follower_shows_what_is_in_sync(case):
    """A follower serves a record to consumers only after it has learned that the high watermark
    includes it.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (0, 2, 1), ONE),
        marked(name, 1, at=2, name="known", version=case.version),
        pause_broker(1),
        read(name, 1, at=0, name="drained", max_wait_ms=700),
        write(name, TWO, to=0, acks=1),
        read(name, 1, at=2, name="unseen", version=case.version, max_wait_ms=500),
        resume_broker(1),
        marked(name, 2, at=2, name="seen", version=case.version),
        expect=all_of(
            answer("unseen", MARK).is_(1),
            records("unseen").has_length(0),
            records("seen", "[1].value").is_(TWO),
        ),
    )


@claim(
    "replication.strangers-are-no-followers",
    evidence=("REPL-06",),
    by=(0, 9),
    **SHORT_SESSIONS_UNHARMED,
)
def test_strangers_are_no_followers(case):
    """A follower's Fetch by a broker without a replica answers NOT_LEADER_OR_FOLLOWER, before 3.x
    no error and no records.
    """
    name = case.topic()
    code = answer("fetch", f"{READ}.error_code")
    return case.scenario(
        a_log(name, (1, 2), ONE),
        follow(name, 0, by=case.by, name="fetch"),
        marked(name, 1),
        expect=by_release(
            {
                "1.0-2.8": all_of(code.is_(ErrorCode.NONE), records("fetch").has_length(0)),
                "3.9+": code.is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
            }
        ),
    )


@claim(
    "replication.followers-follow-leaders",
    evidence=("REPL-06", "REPL-20"),
    **SHORT_SESSIONS_UNHARMED,
)
def test_followers_follow_leaders(case):
    """A follower's Fetch to another follower answers NOT_LEADER_OR_FOLLOWER."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2, 0), ONE),
        follow(name, 0, of=2, by=0, name="fetch"),
        expect=answer("fetch", f"{READ}.error_code").is_(ErrorCode.NOT_LEADER_OR_FOLLOWER),
    )


@claim("replication.a-follower-beyond-the-end", evidence=("REPL-23",), **SHORT_SESSIONS_UNHARMED)
def test_a_follower_beyond_the_end(case):
    """A Fetch beyond the leader's log end answers OFFSET_OUT_OF_RANGE to followers and consumers
    alike.
    """
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        follow(name, 5, name="follower"),
        read(name, 5, name="consumer"),
        marked(name, 1),
        expect=all_of(
            answer("follower", f"{READ}.error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE),
            answer("consumer", f"{READ}.error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE),
        ),
    )


@claim("replication.a-consumer-beyond-a-followers-end", evidence=("KIP-392",),
       api="Fetch", versions=only("Fetch", 11), **SHORT_LAG_UNHARMED)  # fmt: skip
def test_a_consumer_beyond_a_followers_end(case):
    """A consumer's Fetch beyond a follower's log end answers OFFSET_OUT_OF_RANGE."""
    name = case.topic()
    return case.scenario(
        a_log(name, (1, 2), ONE),
        marked(name, 1, at=2, name="known", version=11),
        read(name, 7, at=2, name="beyond", version=11),
        expect=answer("beyond", f"{READ}.error_code").is_(ErrorCode.OFFSET_OUT_OF_RANGE),
    )
