"""What the bench of attacks sends and counts, without brokers."""

import itertools
from collections import Counter

import pytest

from touchstone.fuzz.segments import frames_in
from touchstone.fuzz.soak import Report
from touchstone.harness.bench import attack, attack_lanes, soak
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.records import batch


@pytest.mark.parametrize(("share", "found"), [(1, 1.0), (50, 50.0), (99, 99.0), (100, 100.0)])
def test_a_percentile_is_one_of_the_values(share, found):
    assert attack.percentile([float(each) for each in range(1, 101)], share) == found
    assert attack.percentile([7.0], share) == 7.0


@pytest.mark.parametrize("mix", attack.MIXES)
def test_a_mix_is_whole_frames_of_its_seed(mix):
    first, again = (
        [sent.wire for sent in itertools.islice(attack.frames_of(mix, "4.3", 3), 5)] for _ in "ab"
    )
    assert first == again
    if mix == "wide":
        for wire in first:
            frames, whole = frames_in(wire)
            assert (len(frames), whole) == (1, True)
            assert len(wire) < 3 * attack.WIDE_BYTES


def test_a_release_gets_the_lanes_that_it_has_an_api_for():
    assert attack.lanes_of("4.3") == [*attack_lanes.LANES]
    assert set(attack.lanes_of("1.0")) == {"pipelined"}
    assert "groups" not in attack.lanes_of("3.9")


def test_a_small_batch_is_much_work():
    for made, records in (
        (attack_lanes.many_records(2_000), 2_000),
        (attack_lanes.many_headers(50_000), 1),
    ):
        header = batch.read_header(made)
        assert header.records_count == records and len(made) < 10_000
        assert len(batch.payload_of(made, 0, header)) > 2 * len(made)


@pytest.mark.parametrize("lane", attack_lanes.LANES)
def test_each_lane_goes_on_until_it_is_over(lane, monkeypatch):
    small = {"RECORDS": 50, "HEADERS": 50, "TOPICS": 3, "PIPELINED": 20, "UNREAD": 2}
    for name, value in small.items():
        monkeypatch.setattr(attack_lanes, name, value)
    asked = []
    with serve() as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        attack_lanes.run(
            lane, (host, int(port)), 1, lambda: len(asked) > 30, lambda: asked.append(lane)
        )
    assert len(asked) > 30


def test_a_soak_fails_for_a_fault_and_for_memory():
    early = Counter(bytes=1000)
    soak.judge(Report(object_bytes=Counter(bytes=1000 + soak.MOST_GROWTH)), early)
    with pytest.raises(soak.Escaped, match=r"objects grew: \+16\.0 MiB bytes"):
        soak.judge(Report(object_bytes=Counter(bytes=1001 + soak.MOST_GROWTH)), early)
    with pytest.raises(soak.Escaped, match="KeyError: 00ff"):
        soak.judge(Report(faults={"KeyError": b"\0\xff"}), early)
