"""Profiles have settings that each release knows: those that its own jars name."""

from __future__ import annotations

import pytest

from touchstone.harness.model.profiles import KNOWN, PROFILES
from touchstone.harness.tests.schemas.jar_settings import settings
from touchstone.reference_impl.broker.personas.releases import RELEASES

EVERY = {name for profile in PROFILES.values() for name in profile.settings}
# KafkaConfig defines neither what is one listener's alone nor what an authorizer reads.
OF_OTHERS = ("listener.name.", "super.users", "allow.everyone.if.no.acl.found")


def of_kafka(names):
    return {name for name in names if not name.startswith(OF_OTHERS)}


@pytest.mark.java
@pytest.mark.maven
@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_a_profile_has_what_a_release_knows_and_names_what_it_does_not(release):
    names = settings(release).keys()
    for profile in PROFILES.values():
        own, heeded = of_kafka(profile.settings), of_kafka(profile.heeded(release))
        assert heeded <= names, profile.name
        assert of_kafka(profile.unknown(release)) == own - names, profile.name


def test_no_release_is_told_of_a_setting_that_no_profile_has():
    assert KNOWN.keys() <= EVERY


def test_every_profile_has_something_on_every_release_but_the_default():
    for name, profile in PROFILES.items():
        assert all(profile.heeded(release) for release in RELEASES) != (name == "default")
