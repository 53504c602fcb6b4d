"""`buffer.memory`: how many bytes the batches of a producer may take together.

There is no pool, only its account: what BufferPool at 4.3.1 lets a caller have. Who waits for
memory, first come first served, and for how long, is the producer's.
"""

from __future__ import annotations

from .flow import ClientError


class BufferExhausted(ClientError):
    """`max.block.ms` passed before there was memory for a batch (PROD-27)."""


class BufferMemory:
    def __init__(self, total: int = 32 << 20):
        self.total = total
        self.available = total

    def allocate(self, size: int) -> bool:
        """Take `size` bytes, if there are so many. Raises ClientError for more than all."""
        if size > self.total:
            raise ClientError(
                f"Attempt to allocate {size} bytes, but there is a hard limit of {self.total} on"
                " memory allocations."
            )
        if size > self.available:
            return False
        self.available -= size
        return True

    def deallocate(self, size: int) -> None:
        self.available += size

    def exhausted(self, size: int, waited_ms: int, poolable: int) -> BufferExhausted:
        return BufferExhausted(
            f"Failed to allocate {size} bytes within the configured max blocking time {waited_ms}"
            f" ms. Total memory: {self.total} bytes. Available memory: {self.available} bytes."
            f" Poolable size: {poolable} bytes"
        )
