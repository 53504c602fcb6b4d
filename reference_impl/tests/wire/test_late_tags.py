"""A tag of a later version is refused in an earlier one, by whoever knows that version."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.codec import encode
from touchstone.reference_impl.wire.late_tags import decode_known

FETCH = API[1].request
PARTITION = {
    "partition": 0, "current_leader_epoch": -1, "fetch_offset": 0, "last_fetched_epoch": -1,
    "log_start_offset": -1, "partition_max_bytes": 1,
}  # fmt: skip


def frame(version, tag=None, inner=None):
    part = PARTITION | ({} if inner is None else {"_tags": {inner: b"12345678"}})
    body = {
        "replica_id": -1, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1, "isolation_level": 0,
        "session_id": 0, "session_epoch": -1, "forgotten_topics_data": [], "rack_id": "",
        "topics": [{"topic": "t", "topic_id": bytes(16), "partitions": [part]}],
    } | ({} if tag is None else {"_tags": {tag: b"12345678"}})  # fmt: skip
    names = {"topic"} if version > 12 else {"topic_id"}
    body["topics"] = [{k: v for k, v in body["topics"][0].items() if k not in names}]
    if version > 14:
        del body["replica_id"]
    return encode(FETCH, version, body)


@pytest.mark.parametrize(
    ("version", "newest", "tags", "refused"),
    [
        (12, 18, {"tag": 1}, True),  # replica_state comes with version 15
        (12, 12, {"tag": 1}, False),  # which 2.8 has not heard of
        (12, 18, {"tag": 2}, False),  # which nobody has
        (14, 17, {"tag": 1}, True),
        (16, 17, {"inner": 0}, True),  # replica_directory_id of version 17
        (16, 17, {"inner": 1}, False),  # high_watermark of version 18
        (17, 18, {"inner": 1}, True),
        (12, 18, {}, False),
    ],
)
def test_a_tag_of_a_later_version(version, newest, tags, refused):
    bytes_ = frame(version, **tags)
    if not refused:
        assert decode_known(FETCH, version, bytes_, 0, newest)["topics"]
        return
    with pytest.raises(ValueError, match=f"is not valid for version {version}"):
        decode_known(FETCH, version, bytes_, 0, newest)
