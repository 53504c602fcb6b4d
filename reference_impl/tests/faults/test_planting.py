"""A planted object has changed methods; others of its class, and the class itself, do not."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.defects import planting
from touchstone.reference_impl.broker.defects.planting import defect, holder, maker, plant, setting


class Well:
    __slots__ = ("depth",)

    def __init__(self, depth):
        self.depth = depth

    def drawn(self, buckets):
        return min(buckets, self.depth)

    @property
    def dry(self):
        return self.depth == 0


class Village:
    def __init__(self):
        self.well = Well(3)

    def dug(self):
        return Well(5)


@pytest.fixture(autouse=True)
def table(monkeypatch):
    monkeypatch.setattr(planting, "ROWS", [])
    monkeypatch.setattr(planting, "_ONCE", [])
    monkeypatch.setattr(planting, "_HOLDERS", set())
    planting._subclass.cache_clear()
    yield
    planting._subclass.cache_clear()


def test_a_method_is_changed_for_one_object():
    defect("one-more", Well, "drawn")(lambda real, well, buckets: real(buckets) + 1)
    planted, other = plant(Well(2), {"one-more"}), Well(2)
    assert (planted.drawn(5), other.drawn(5)) == (3, 2)
    assert type(planted) is not Well and isinstance(planted, Well)


def test_a_property_changes_as_a_method_does():
    defect("never-dry", Well, "dry")(lambda real, well: False)
    assert (plant(Well(0), {"never-dry"}).dry, Well(0).dry) == (False, True)


def test_a_switch_that_is_off_changes_nothing():
    defect("one-more", Well, "drawn")(lambda real, well, buckets: real(buckets) + 1)
    assert plant(Well(2), {"something-else"}).drawn(5) == 2


def test_several_defects_of_one_method_are_all_there():
    defect("one-more", Well, "drawn")(lambda real, well, buckets: real(buckets) + 1)
    defect("twice", Well, "drawn")(lambda real, well, buckets: 2 * real(buckets))
    assert plant(Well(2), {"one-more", "twice"}).drawn(5) == 6


def test_parts_are_planted_with_their_whole_and_what_is_made_when_it_is_made():
    defect("one-more", Well, "drawn")(lambda real, well, buckets: real(buckets) + 1)
    holder(Village)
    maker(Village, "dug")
    village = plant(Village(), {"one-more"})
    assert (village.well.drawn(9), village.dug().drawn(9), Village().dug().drawn(9)) == (4, 6, 5)


def test_an_object_is_set_once():
    @setting("deep", Well)
    def deeper(well):
        well.depth += 1

    well = plant(Well(2), {"deep"})
    assert plant(well, {"deep"}).depth == 3
