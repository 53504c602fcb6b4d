"""The two checksums of Kafka's formats.

Message sets (magic 0 and 1) carry zlib's CRC-32 of everything after the checksum; record batches
(magic 2) carry CRC-32C, Castagnoli's polynomial, of everything from the attributes on (KIP-98).
Both are computed in C. The fields in front of them (offsets, lengths, the partition leader epoch)
are covered by neither, which is why a broker may assign offsets without touching a checksum.
"""

from zlib import crc32

from crc32c import crc32c

__all__ = ["crc32", "crc32c"]
