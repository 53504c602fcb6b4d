"""Brokers with a wrong counter are still seen on a cluster that has lived: its epochs are above 0.

A liar (targets/liars.py) stands before the cluster and gets one counter wrong; the claim that is
about it must differ, and conforms without the liar. By day the cluster is ours, started three times
on one folder; by night it is a real Kafka that `touchstone age` has aged.
"""

from __future__ import annotations

import struct

import pytest

from touchstone.harness.ageing import acts
from touchstone.harness.ageing.cluster import AgedCluster
from touchstone.harness.ageing.life import planned
from touchstone.harness.judgement.verdict import CONFORMS, DIVERGES
from touchstone.harness.model import advertised
from touchstone.harness.model.case import Case, run_case
from touchstone.harness.model.recordings import Store
from touchstone.harness.run import detection
from touchstone.harness.run.judge import Judge
from touchstone.harness.run.oracles import Recorded
from touchstone.harness.targets import parse
from touchstone.harness.targets.liars import LyingServer, broker
from touchstone.harness.targets.misbehaviour import Liar
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.records import control
from touchstone.reference_impl.wire.records.batch import read_header
from touchstone.reference_impl.wire.records.walk import entries

STARTS, SEED = 3, 1
COUNTED, PRODUCERS = "transactions.epochs-count-up", "transactions.ids-have-producers-of-their-own"
ENDED, QUORUM = "transactions.ended-ones-leave-the-producer", "controller.a-quorum-of-one"
_EPOCH = struct.Struct(">hi")


def stands_still(turn, answer):
    """The producer epoch of an id does not rise."""
    name = turn.request["transactional_id"]
    answer["producer_epoch"] = turn.memory.setdefault(name, answer["producer_epoch"])


def handed_out_twice(turn, answer):
    """Everybody gets the first producer id."""
    answer["producer_id"] = turn.memory.setdefault("first", answer["producer_id"])


def of_another_coordinator(turn, answer):
    """DescribeProducers tells another coordinator epoch than the marker."""
    for state in _states(answer):
        state["coordinator_epoch"] += 1


def of_no_coordinator(turn, answer):
    """DescribeProducers tells of no marker where there was one."""
    for state in _states(answer):
        state["coordinator_epoch"] = -1


def wanders(turn, answer):
    """Each answer tells another leader epoch of the metadata log."""
    turn.memory["asked"] = turn.memory.get("asked", 0) + 1
    for topic in answer["topics"]:
        for part in topic["partitions"]:
            part["leader_epoch"] += turn.memory["asked"]


def marked_by_another(turn, answer):
    """Markers have a coordinator epoch one above that which DescribeProducers tells."""
    for topic in answer["responses"]:
        for part in topic["partitions"]:
            part["records"] = _marked(bytes(part["records"] or b""))


LIES = [
    ("InitProducerId", stands_still, COUNTED),
    ("InitProducerId", handed_out_twice, PRODUCERS),
    ("DescribeProducers", of_another_coordinator, ENDED),
    ("DescribeProducers", of_no_coordinator, ENDED),
    ("Fetch", marked_by_another, ENDED),
    ("DescribeQuorum", wanders, QUORUM),
]


def _states(answer):
    for topic in answer["topics"]:
        for part in topic["partitions"]:
            yield from part["active_producers"]


def _marked(data):
    out = b""
    for at, size, _ in entries(data):
        head, entry = read_header(data, at), data[at : at + size]
        if head.attributes & 0x20:
            kind = control.COMMIT
            _, epoch = _EPOCH.unpack(entry[-1 - _EPOCH.size : -1])
            entry = control.marker_batch(
                kind, producer_id=head.producer_id, producer_epoch=head.producer_epoch,
                coordinator_epoch=epoch + 1, timestamp=head.base_timestamp,
                base_offset=head.base_offset, partition_leader_epoch=head.partition_leader_epoch,
            )  # fmt: skip
        out += entry
    return out


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """Our broker in its third life on one folder; each began with a transaction."""
    folder = tmp_path_factory.mktemp("lived")
    for start in range(STARTS):
        running = serve(data=folder, profile="test")
        with Client(running.bootstrap) as client:
            client.transactional_producer(f"life-{start}")
        if start < STARTS - 1:
            running.stop()
    with running:
        yield parse(running.bootstrap[0]).addresses[0]


@pytest.fixture(scope="module")
def aged():
    """A real Kafka, aged."""
    cluster = AgedCluster(planned("4.3", SEED, 1))
    try:
        cluster.start()
        acts.live(cluster, lambda line: None)
        yield parse(cluster.bootstrap).addresses[0]
    finally:
        cluster.close()


def verdicts(address, lies):
    """Of each claim that a lie names, before an honest address and behind the liar."""
    honest = {claim: judged(address, claim, "honest") for claim in {one for _, _, one in lies}}
    for api, change, claim in lies:
        with LyingServer(_liar(api, change), broker(address)) as lying:
            name = change.__name__
            yield name, honest[claim], judged(lying.address, claim, name)


def _liar(api, change):
    def lie(turn):
        if turn.api != api or turn.honest is None:
            return None
        body = turn.answer
        change(turn, body)
        return [turn.encoded(body)]

    return Liar(change.__name__, change.__doc__, "the suites", lie)


def judged(address, claim_id, nonce):
    claim, function = detection.functions()[claim_id]
    judge = Judge(
        parse(f"{address[0]}:{address[1]}"), Recorded(Store("4.3")), "4.3",
        nonce=nonce, deadline_s=30.0, again=0,
    )  # fmt: skip
    case = Case(claim.cases("4.3", advertised.table("4.3"))[-1], judge)
    try:
        run_case(function, case)
    except Exception as failed:
        assert case.judgement is not None, failed
    finally:
        judge.close()
    return case.judgement.verdict.kind


@pytest.mark.slow
def test_wrong_counters_are_seen_on_ours_that_has_lived(ours):
    found = {name: pair for name, *pair in verdicts(ours, LIES)}
    assert found == {change.__name__: [CONFORMS, DIVERGES] for _, change, _ in LIES}


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.maven
@pytest.mark.nightly
def test_wrong_counters_are_seen_on_kafka_that_has_lived(aged):
    found = {name: pair for name, *pair in verdicts(aged, LIES)}
    assert found == {change.__name__: [CONFORMS, DIVERGES] for _, change, _ in LIES}
