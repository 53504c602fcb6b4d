"""Bytes of one connection leave: at once as far as its socket takes them, the rest when it can.

What is left is counted in the broker's `AnswerMemory`, here alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from touchstone.reference_impl.io import portable
from touchstone.reference_impl.io.channel import Channel

_MOST_PIECES = 512  # below what one writev takes anywhere (IOV_MAX is 1024 on Linux)
_MOST_OF_ONE_TURN = 1 << 22  # bytes of what waited; then it is somebody else's turn


def put(channel: Channel, pieces: Sequence[bytes]) -> bool:
    """Return whether all of it, and all before it, has left. Raise OSError of a broken socket."""
    sent = 0
    if not channel.outbox:
        with suppress(BlockingIOError):
            sent = portable.send(channel.sock, pieces[:_MOST_PIECES])
    left = sum(map(len, pieces)) - sent
    if not left:
        return not channel.outbox
    channel.answers.in_flight += left
    for piece in pieces:
        if sent < len(piece):
            channel.outbox.append(memoryview(piece)[sent:])
        sent = max(0, sent - len(piece))
    return False


def flush(channel: Channel) -> bool:
    """Send what waits, so much at a time; whether all of it has left. Raise OSError as `put`."""
    outbox, left = channel.outbox, _MOST_OF_ONE_TURN
    while outbox and left:
        try:
            sent = channel.sock.send(outbox[0][:left])
        except BlockingIOError:
            return False
        channel.answers.in_flight -= sent
        left -= sent
        if sent < len(outbox[0]):
            outbox[0] = outbox[0][sent:]
            return False
        outbox.popleft()
    return not outbox


def drop(channel: Channel) -> None:
    """Nobody takes what waits."""
    channel.answers.in_flight -= sum(map(len, channel.outbox))
    channel.outbox.clear()
