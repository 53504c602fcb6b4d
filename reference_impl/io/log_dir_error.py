"""What a start with `--data` says of a directory that it cannot use.

It stands alone so that whoever starts a broker in memory can name it without the modules of disk.
"""

from __future__ import annotations


class LogDirError(Exception):
    """A directory that this broker must not use: somebody else's, or locked."""
