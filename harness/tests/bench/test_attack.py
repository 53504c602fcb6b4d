"""What the bench of attacks sends and counts, without brokers."""

import itertools
from collections import Counter

import pytest

from touchstone.fuzz.segments import frames_in
from touchstone.fuzz.soak import Report
from touchstone.harness.bench import attack, soak


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


def test_a_soak_fails_for_a_fault_and_for_memory():
    early = Counter(bytes=1000)
    soak.judge(Report(object_bytes=Counter(bytes=1000 + soak.MOST_GROWTH)), early)
    with pytest.raises(soak.Escaped, match=r"objects grew: \+16\.0 MiB bytes"):
        soak.judge(Report(object_bytes=Counter(bytes=1001 + soak.MOST_GROWTH)), early)
    with pytest.raises(soak.Escaped, match="KeyError: 00ff"):
        soak.judge(Report(faults={"KeyError": b"\0\xff"}), early)
