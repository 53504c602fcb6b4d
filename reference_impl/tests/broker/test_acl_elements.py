"""Which elements of an ACL, or of a filter, end the connection: seen on all five releases."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.tests.broker.one_broker import CLOSED, OneBroker

CREATION = {
    "resource_type": 2, "resource_name": "t", "resource_pattern_type": 3, "principal": "User:u",
    "host": "*", "operation": 3, "permission_type": 3,
}  # fmt: skip
FILTER = {
    "resource_type_filter": 2, "resource_name_filter": "t", "pattern_type_filter": 3,
    "principal_filter": None, "host_filter": None, "operation": 3, "permission_type": 3,
}  # fmt: skip
VERSION = {"1.0": 0, "2.2": 1, "2.8": 1, "3.9": 1, "4.3": 1}
TRIED = range(-1, 9)


def closing(release: str, api: str, rows: str, row: dict, element: str) -> list[int]:
    """The values of this element that end the connection."""
    return [
        value
        for value in TRIED
        if OneBroker(release).ask(api, VERSION[release], {rows: [row | {element: value}]}) == CLOSED
    ]


@pytest.mark.parametrize(
    ("release", "element", "values"),
    [
        ("1.0", "resource_type", []),
        ("1.0", "operation", [1]),
        ("1.0", "permission_type", [1]),
        ("2.2", "resource_type", [1]),
        ("2.2", "resource_pattern_type", [1, 2]),
        ("2.2", "operation", [1]),
        ("2.8", "resource_type", [0]),
        ("2.8", "resource_pattern_type", [0]),
        ("3.9", "operation", [0]),
        ("4.3", "permission_type", [0]),
    ],
)
def test_a_creation_that_cannot_be_parsed_ends_its_connection(release, element, values):
    assert closing(release, "CreateAcls", "creations", CREATION, element) == values


@pytest.mark.parametrize(
    ("release", "element", "values"),
    [
        ("1.0", "operation", []),
        ("2.2", "pattern_type_filter", []),
        ("2.8", "resource_type_filter", [0]),
        ("3.9", "pattern_type_filter", [0]),
        ("4.3", "operation", [0]),
        ("4.3", "permission_type", [0]),
    ],
)
def test_a_filter_that_cannot_be_parsed_ends_its_connection(release, element, values):
    assert closing(release, "DeleteAcls", "filters", FILTER, element) == values
