"""Frames come out whole however the bytes were cut; sizes are believed only up to the limit."""

import pytest

from touchstone.reference_impl.wire.errors import ErrorCode, is_retriable, name_of
from touchstone.reference_impl.wire.framing import FrameError, Frames, framed

STREAM = framed(b"") + framed(b"abc") + framed(b"x" * 300)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 300, 1000])
def test_any_cut_gives_the_same_frames(size):
    frames, found = Frames(limit=300), []
    for at in range(0, len(STREAM), size):
        found += frames.feed(STREAM[at : at + size])
    assert found == [b"", b"abc", b"x" * 300]
    assert frames.pending == 0


def test_pending_counts_what_waits():
    frames = Frames(limit=300)
    assert frames.feed(STREAM[:6]) == [b""]
    assert frames.pending == 2


@pytest.mark.parametrize("size", [b"\xff\xff\xff\xff", b"\x00\x00\x01\x2d"])
def test_a_size_out_of_bounds_ends_the_stream(size):
    frames = Frames(limit=300)
    with pytest.raises(FrameError, match="allowed are 0 to 300") as caught:
        frames.feed(framed(b"ok") + size)
    assert caught.value.frames == [b"ok"]
    assert frames.pending == 0
    with pytest.raises(FrameError):
        frames.feed(framed(b"late"))


def test_error_codes_have_names_and_unknown_ones_survive():
    assert name_of(3) == ErrorCode(3).name == "UNKNOWN_TOPIC_OR_PARTITION"
    assert name_of(9999) == "UNKNOWN_ERROR_CODE_9999"
    assert [code.value for code in ErrorCode] == list(range(-1, 134))
    assert is_retriable(3)
    assert ErrorCode.NOT_LEADER_OR_FOLLOWER.retriable
    assert not is_retriable(9999)
