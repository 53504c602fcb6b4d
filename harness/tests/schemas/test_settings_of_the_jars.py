"""Types and bounds of broker settings against KafkaConfig's definition in each release's jars."""

from __future__ import annotations

import re

import pytest

from touchstone.harness.tests.schemas.jar_settings import settings
from touchstone.reference_impl.broker.configs import config_view
from touchstone.reference_impl.broker.personas.releases import RELEASES

pytestmark = [pytest.mark.maven, pytest.mark.java, pytest.mark.slow]
FORMS = (  # what a validator prints -> our rule
    (re.compile(r"\[(-?[\d.]+),\.\.\.\]"), ">= {}"),
    (re.compile(r"\[(-?[\d.]+),\.\.\.,(-?[\d.]+)\]"), "{} .. {}"),
    (re.compile(r"\[(-?[\d.]+),\.\.\.,(-?[\d.]+)\] or -1"), "{} .. {} or -1"),
    (re.compile(r"\[([A-Za-z]+(?:, [A-Za-z0-9]+)+)\]"), "one of {}"),
)

PRINTS_NOTHING = "not empty"  # a list's validator (4.3); it was seen to refuse one without elements


def rule(printed: str) -> str | None:
    for form, ours in FORMS:
        found = form.fullmatch(printed)
        if found:
            return ours.format(*found.groups())
    return None


@pytest.mark.parametrize("release", RELEASES)
def test_bounds_are_those_of_the_jars(release):
    theirs = {name: (kind, rule(printed)) for name, (kind, printed) in settings(release).items()}
    definitions = config_view.broker_definitions(release)
    ours = {
        name: (each.type, None if each.rule == PRINTS_NOTHING else each.rule)
        for name, each in definitions.items()
    }
    both = theirs.keys() & ours.keys()
    assert len(both) > 120
    assert {name: ours[name] for name in both} == {name: theirs[name] for name in both}
