"""A setting is acted on, harmless, or refused before the broker listens: nothing is a promise that
nobody keeps.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from touchstone.reference_impl.broker.configs import config_view, unobeyed
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.cluster.endpoints import PROTOCOLS
from touchstone.reference_impl.io.server import serve

HERE = Path(unobeyed.__file__).resolve().parents[2]
# Where settings are listed without being acted on.
LISTS = {
    "broker_configs.py", "topic_configs.py", "group_configs.py", "unobeyed.py",
    "listener_changes.py", "requirements.py",
}  # fmt: skip
# Read under names that are put together of a kind of group and a setting.
OF_GROUPS = re.compile(r"group\.(consumer|share|streams)\.(?!assignors)")


def source():
    """What a broker may run: no tests, and not the client, which has settings of its own."""
    others = {"tests", "client"}
    files = (path for path in HERE.rglob("*.py") if not others & set(path.parts))
    return "".join(path.read_text("utf-8") for path in files if path.name not in LISTS)


SOURCE = source()


def acted_on(release, name):
    synonyms = {
        definition.synonym
        for definitions in (
            config_view.topic_definitions(release),
            config_view.group_definitions(release),
        )
        for definition in definitions.values()
    }
    return f'"{name}"' in SOURCE or name in synonyms or OF_GROUPS.match(name) is not None


@pytest.mark.parametrize("release", RELEASES)
def test_every_setting_of_a_release_is_obeyed_harmless_or_refused(release):
    unknown = [
        name
        for name in config_view.broker_definitions(release)
        if not acted_on(release, name)
        and name not in unobeyed.REFUSED
        and unobeyed.harmless(name) is None
    ]
    assert unknown == []


def test_what_is_refused_is_acted_on_nowhere():
    assert [name for name in unobeyed.REFUSED if f'"{name}"' in SOURCE] == []


@pytest.mark.parametrize("release", RELEASES)
def test_what_is_called_harmless_is_acted_on_nowhere(release):
    """Who brings a whole server.properties is told so of each of its lines."""
    names = [name for name in config_view.broker_definitions(release) if acted_on(release, name)]
    assert [name for name in names if unobeyed.harmless(name)] == []


def test_every_reason_is_needed():
    names = {
        name
        for release in RELEASES
        for name in config_view.broker_definitions(release)
        if not acted_on(release, name)
    }
    for pattern in unobeyed.HARMLESS:
        assert any(re.match(pattern, name) for name in names), pattern


@pytest.mark.parametrize("name", unobeyed.REFUSED)
def test_one_line_names_what_is_refused(name):
    with pytest.raises(ValueError, match=f"^{re.escape(name)}=yes is not obeyed") as refused:
        serve(config={name: "yes"})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("release", RELEASES)
def test_the_default_of_a_release_is_never_refused(release):
    defaults = {
        name: definition.default or ""
        for name, definition in config_view.broker_definitions(release).items()
        if name in unobeyed.REFUSED
    }
    unobeyed.check(defaults)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_of_a_listener_is_obeyed(protocol):
    unobeyed.check(
        {
            "listeners": "PLAINTEXT://:9091,CLIENTS://:9092",
            "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,CLIENTS:{protocol}",
        }
    )


def test_a_listener_without_a_protocol_is_refused():
    with pytest.raises(ValueError, match="No security protocol defined for listener CLIENTS"):
        unobeyed.check({"listeners": "CLIENTS://:9092"})
