"""What to install where a package is missing: in the ranges of the installed version."""

import importlib.metadata

import pytest

from touchstone.reference_impl.extras import MissingExtra, install_command, requirements


@pytest.fixture
def metadata(monkeypatch):
    def says(*lines):
        monkeypatch.setattr(importlib.metadata, "requires", lambda name: list(lines))

    return says


def test_the_packages_of_an_extra_are_named_with_their_ranges(metadata):
    old_python = "c>=1 ; (python_version>'3') and extra == 'x'"
    metadata("click<9,>=8.1", 'a[b]<3,>=2; extra == "x"', old_python, 'd; extra == "y"')
    assert requirements("x") == ["a[b]<3,>=2", "c>=1"]
    assert install_command("x") == "pip install 'a[b]<3,>=2' 'c>=1'"
    assert install_command("y") == "pip install d"


def test_an_extra_that_nobody_installed_is_named_itself(metadata, monkeypatch):
    metadata("click<9,>=8.1")
    assert requirements("x") == ["kafka-touchstone[x]"]

    def unknown(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", unknown)
    assert requirements("x") == ["kafka-touchstone[x]"]


def test_what_is_missing_is_said_before_how_to_get_it(metadata):
    metadata('d>=1; extra == "y"')
    assert str(MissingExtra("keys need d", "y")) == "keys need d (the extra y): pip install 'd>=1'"
