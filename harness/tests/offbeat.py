"""A broker whose coordinators count a group's generations and epochs from elsewhere than Kafka.

Our own stands behind it and hears its own numbers: each that is above zero goes up by `more` in an
answer and down in a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.harness.model.group_numbers import SENT
from touchstone.harness.model.target import Address
from touchstone.harness.targets.liars import Behind, LyingServer
from touchstone.reference_impl.wire import headers

HEARD = frozenset(SENT)
TOLD = HEARD | {"group_epoch", "assignment_epoch"}


class Offbeat(Behind):
    """The connection to the broker behind, whose numbers go up by `more`."""

    def __init__(self, address: Address, more: int) -> None:
        super().__init__(address)
        self.more = more

    def __call__(self, frame: bytes) -> bytes | None:
        header, _ = headers.decode_request_header(frame)
        key, version = header.key, header.version
        try:
            body = moved(headers.decode_request(frame).body, HEARD, -self.more)
        except ValueError:
            return super().__call__(frame)
        request = headers.encode_request(
            key, version, header.correlation_id, header.client_id, body
        )
        answer = super().__call__(request)
        if answer is None:
            return None
        found = headers.decode_response(key, version, answer).body
        told = moved(found, TOLD, self.more)
        return headers.encode_response(key, version, header.correlation_id, told)


def moved(value: Any, fields: frozenset[str], by: int) -> Any:
    """The message with these numbers moved; one that would come to nothing is another one."""
    if isinstance(value, Mapping):
        return {
            key: max(inner + by, 99 if inner + by < 1 else 1)
            if key in fields and isinstance(inner, int) and inner > 0
            else moved(inner, fields, by)
            for key, inner in value.items()
        }
    return [moved(one, fields, by) for one in value] if isinstance(value, list) else value


def offbeat(address: Address, more: int) -> LyingServer:
    """A running one before the broker at this address."""
    return LyingServer(None, lambda: Offbeat(address, more))
