"""What a follower shows to consumers: what it knows to be in sync, not all that it has.

Broker 2 is paused, so that the high watermark stands; broker 0 follows on and gets the record while
a fetch waits at the leader, and may not show it.

Sources: Partition.fetchRecords, UnifiedLog.read (2.8.2, 3.9), KIP-392; clauses REPL-05, FETCH-03.
"""

from harness.claim import claim, range_
from harness.expect import all_of, answer, records
from harness.steps import pause_broker, resume_broker
from suites.scene import among
from suites.trio import DEATH, MARK, ONE, READ, TWO, a_log, marked, read, write

FROM_FOLLOWERS = 11


@claim(
    "replication.a-follower-shows-what-is-in-sync",
    evidence=("FETCH-03", "REPL-05", "REPL-09", "KIP-392"),
    api="Fetch",
    versions=range_("Fetch", FROM_FOLLOWERS),
    where=among(11, 12),
    **DEATH,
)
def test_a_follower_shows_what_is_in_sync(case):
    """A follower has a record that another one in sync lacks; no consumer reads it there."""
    name = case.topic()
    verdict = case.judge(
        a_log(name, (1, 2, 0), ONE),
        marked(name, 1, at=0, name="ready", version=case.version),
        pause_broker(2),
        read(name, 1, name="drained", max_wait_ms=700),
        write(name, TWO, acks=1),
        read(name, 1, name="held", max_wait_ms=700),
        read(name, 1, at=0, name="unseen", max_wait_ms=300, version=case.version),
        resume_broker(2),
        marked(name, 2, at=0, name="seen", version=case.version),
        expect=all_of(
            answer("unseen", MARK).is_(1),
            answer("unseen", f"{READ}.error_code").is_(0),
            records("unseen").has_length(0),
            records("seen", "[1].value").is_(TWO),
        ),
    )
    assert verdict.conforms, verdict
