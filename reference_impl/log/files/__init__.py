"""The files of a log directory as values and bytes, one format per module; no disk is touched here.

What reads and writes them is `reference_impl/io`. Every format is Kafka's own, so that Kafka's
tools and brokers read what we write and we read theirs: `encode(decode(bytes))` is the identity on
what the five releases write (proved in tests/log_files on bytes they wrote). Whoever reads a file
that is damaged gets a `FileFormatError` and decides: rebuild, ignore, or go offline.
"""

from .errors import FileFormatError

__all__ = ["FileFormatError"]
