"""What a producer writes by a type of Python, a consumer reads by the same type."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.client.deserializers import deserializer
from touchstone.reference_impl.client.serializers import serializer_of


@pytest.mark.parametrize(
    ("kind", "value"), [(bytes, b"\x00x"), (str, "vier Bücher"), (int, 4), (int, -(1 << 40))]
)
def test_a_type_reads_what_it_wrote(kind, value):
    written = serializer_of(kind, {}, is_key=False).serialize("t", [], value)
    reader = deserializer(kind)
    assert (written if reader is None else reader.deserialize("t", [], written)) == value
