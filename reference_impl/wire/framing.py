"""Chunks in, whole frames out: four bytes of size, then that many bytes.

The size is believed only up to `limit` (the broker's socket.request.max.bytes): a larger or
negative one raises before any byte of the frame is kept, as Kafka's NetworkReceive does. Frames
that stood before the bad size in the same chunk are not lost: they are on the error.
"""

from __future__ import annotations

from struct import Struct

_SIZE = Struct(">i")
KAFKA_LIMIT = 104857600  # socket.request.max.bytes


class FrameError(ValueError):
    """A size no frame may have. `frames` are the whole ones that came before it."""

    def __init__(self, size: int, limit: int, frames: list[bytes]) -> None:
        super().__init__(f"a frame of {size} bytes; allowed are 0 to {limit}")
        self.size = size
        self.limit = limit
        self.frames = frames


class Frames:
    def __init__(self, limit: int = KAFKA_LIMIT) -> None:
        self.limit = limit
        self._kept = bytearray()
        self._failed: FrameError | None = None

    @property
    def pending(self) -> int:
        """How many bytes wait for the rest of their frame."""
        return len(self._kept)

    @property
    def claimed(self) -> int:
        """How many bytes the frame that has begun to come will have, as far as is known."""
        kept = self._kept
        return _SIZE.unpack_from(kept)[0] + _SIZE.size if len(kept) >= _SIZE.size else len(kept)

    def feed(self, chunk: bytes) -> list[bytes]:
        if self._failed is not None:
            raise FrameError(self._failed.size, self.limit, [])
        if self._kept:
            self._kept += chunk
            source: bytes | bytearray = self._kept
        else:
            source = chunk
        frames: list[bytes] = []
        at, end = 0, len(source)
        while end - at >= 4:
            size = _SIZE.unpack_from(source, at)[0]
            if not 0 <= size <= self.limit:
                self._kept = bytearray()
                self._failed = FrameError(size, self.limit, frames)
                raise self._failed
            if end - at - 4 < size:
                break
            frames.append(bytes(source[at + 4 : at + 4 + size]))
            at += 4 + size
        if source is self._kept:
            del self._kept[:at]
        else:
            self._kept += source[at:]
        return frames


def framed(frame: bytes) -> bytes:
    return _SIZE.pack(len(frame)) + frame
