"""Groups belong to partitions by the absolute value of Java's hash (OFFS-14, OFFS-15)."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.group.placement import java_hash, partition_for


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


@pytest.mark.parametrize("text", ["", "1", "-12", "消费组", "😀", "g" * 15, "g" * 16, "z" * 40_000])
@pytest.mark.parametrize("begin", ["", "polygenelubricants", "消费组😀", "z" * 40_000])
def test_a_hash_goes_on_from_that_of_what_stands_before(begin, text):
    assert java_hash(text, java_hash(begin)) == java_hash(begin + text)
