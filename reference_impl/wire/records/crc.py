"""The two checksums of Kafka's formats.

Message sets (magic 0 and 1) carry zlib's CRC-32 of everything after the checksum; record batches
(magic 2) carry CRC-32C, Castagnoli's polynomial, of everything from the attributes on (KIP-98).
Both are computed in C. The fields in front of them (offsets, lengths, the partition leader epoch)
are covered by neither, which is why a broker may assign offsets without touching a checksum.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from zlib import crc32

__all__ = ["crc32", "crc32c"]

_EXTENSION = "crc32c._crc32c"


def _castagnoli() -> Callable[..., int]:
    """What `from crc32c import crc32c` gives, without its package where that can be left out.

    The package imports importlib.metadata to know its own version, and so e-mail and zip files:
    4 of the 27 MB of an idle broker, and a tenth of the time of its start.
    """
    package = find_spec("crc32c")
    found = package and PathFinder.find_spec(_EXTENSION, package.submodule_search_locations)
    if "crc32c" in sys.modules or found is None or found.loader is None:
        module = import_module("crc32c")
    else:
        module = module_from_spec(found)
        found.loader.exec_module(module)
        sys.modules[_EXTENSION] = module  # for others who import the package
    function: Callable[..., int] = module.crc32c
    return function


crc32c = _castagnoli()
