"""What members of Kafka's eager sticky assignor put into the user data of their subscription.

There is no version in the bytes: v1 is v0 and a generation behind it, and who reads tries v1 first.

Source: StickyAssignor.STICKY_ASSIGNOR_USER_DATA_V0, _V1 at 4.3.1; KIP-341.
"""

from __future__ import annotations

from ..codec import decode, encode
from ..interpreter import DecodeError
from ..schema import Field, Message, Struct

USER_DATA = Message("StickyAssignorUserData", "0-1", "", [
    Field("previous_assignment", "0+", "[]struct", fields=[
        Field("topic", "0+", "string"),
        Field("partitions", "0+", "[]int32"),
    ]),
    Field("generation", "1+", "int32", default=-1),
])


def encode_sticky(body: Struct) -> bytes:
    return encode(USER_DATA, 1, body)


def decode_sticky(data: bytes) -> Struct:
    """Raises DecodeError for what is neither."""
    try:
        body, _ = decode(USER_DATA, 1, data)
    except DecodeError:
        body, _ = decode(USER_DATA, 0, data)
    return body
