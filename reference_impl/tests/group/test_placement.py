"""Groups belong to partitions by the absolute value of Java's hash (OFFS-14, OFFS-15)."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.group.placement import partition_for


@pytest.mark.parametrize(
    ("group", "partition"),
    [
        ("test", 48),
        ("csmr_grp_01", 19),
        ("消费组", 35),
        ("😀", 49),
        ("polygenelubricants", 0),
        ("my-group", 12),  # dropping the sign bit would give 36
    ],
)
def test_groups_belong_to_partitions(group, partition):
    assert partition_for(group, 50) == partition
