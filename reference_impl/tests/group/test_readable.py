"""What a coordinator takes for a subscription: it reads topics as version 0, whatever follows them.

Segment's kafka-go says version 1 and leaves the owned partitions out; real 2.8.2 lets it join.
"""

import pytest

from touchstone.reference_impl.group.members import Group, Member

SAID = b"\x00\x01\x00\x00\x00\x01\x00\x03abc\x00\x00\x00\x00"


@pytest.mark.parametrize(("data", "readable"), [(SAID, True), (SAID[:7], False), (b"\0", True)])
def test_topics_are_enough(data, readable):
    group = Group("g", protocol_type="consumer")
    member = Member("m", None, "c", "h", 1, 1, (("range", data),))
    group.members["m"] = member
    assert group.readable("range") is readable
