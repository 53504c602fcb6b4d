"""XXH3 over every class of lengths, and hashes that 4.3.1 wrote.

The numbers are the xxhash library's (PyPI, 4.1).
"""

from __future__ import annotations

import pytest

from touchstone.reference_impl.group.xxh3 import group_hash, topic_hash, xxh3_64

KNOWN = {
    0: 0x2D06800538D394C2, 3: 0x5F4299FC161C9CBB, 6: 0xA6584D1D9A6AE704, 12: 0x5ACE6A511C10894B,
    40: 0xCDB099831361923C, 100: 0x4E4F921A64BD1C, 200: 0xF42A8864FEAF0703,
    300: 0xFDDA6967CF021DBC, 1100: 0x5125463FD1875A71,
}  # fmt: skip


@pytest.mark.parametrize("size", KNOWN)
def test_known_hashes(size):
    assert xxh3_64(bytes(i % 251 for i in range(size))) == KNOWN[size]


def test_a_group_hashes_its_topics_by_name_and_no_topic_is_zero():
    one = topic_hash("a", bytes(range(16)), ((), ("r1", "r0")))
    two = topic_hash("a", bytes(range(16)), ((), ("r0", "r1")))
    other = topic_hash("b", bytes(range(16)), ((), ()))
    assert one == two != other
    assert group_hash({"b": other, "a": one}) == group_hash({"a": one, "b": other})
    assert group_hash({}) == 0
