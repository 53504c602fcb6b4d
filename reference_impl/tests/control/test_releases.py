"""What changes with releases is read from the newest change that applies."""

import pytest

from touchstone.reference_impl.broker.personas.quirks import TABLES
from touchstone.reference_impl.broker.personas.releases import RELEASES, value_in


@pytest.mark.parametrize(
    ("release", "value"), [("1.0", 1), ("2.2", 1), ("2.8", 2), ("3.9", 2), ("4.3", 3)]
)
def test_a_value_holds_until_the_next_change(release, value):
    assert value_in({"4.3": 3, "1.0": 1, "2.8": 2}, release) == value


def test_a_release_before_the_first_change_has_no_value():
    with pytest.raises(KeyError, match="nothing is said of 1.0"):
        value_in({"2.2": 1}, "1.0")


def test_a_change_at_a_release_that_does_not_exist_is_an_error():
    with pytest.raises(KeyError, match=r"5\.0"):
        value_in({"1.0": 1, "5.0": 2}, "4.3")


def test_every_row_says_how_it_began_and_changes_at_least_once():
    for table in TABLES:
        for name, (_, changes, _) in table.ROWS.items():
            assert RELEASES[0] in changes and len(changes) > 1, name
            assert list(changes) == [each for each in RELEASES if each in changes], name
            values = list(changes.values())
            assert all(a != b for a, b in zip(values, values[1:], strict=False)), name
