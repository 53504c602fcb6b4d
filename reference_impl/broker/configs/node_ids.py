"""The name of a broker's configs, or of its loggers', is the broker's id, written as Java reads it.

Source: Integer.valueOf in ConfigHelper.resourceNameToBrokerId, ConfigAdminManager
.validateResourceNameIsNodeId and RuntimeLoggerManager@3.9.2, AdminManager@2.8.2; asked of both and
of 4.3.1.
"""

from __future__ import annotations

import re

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.wire.errors import ErrorCode

_INTEGER = re.compile(r"[+-]?\d+")
_LEAST, _MOST = -(2**31), 2**31 - 1


def node_id(name: str, who: str = "Broker") -> int:
    """The id that a name says. Raises ApiError: it says none."""
    if _INTEGER.fullmatch(name) is None or not _LEAST <= int(name) <= _MOST:
        message = f"{who} id must be an integer, but it is: {name}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    return int(name)
