"""Personas are whole: every range has a schema, every quirk a value, every config a reader.

What they say is compared with real answers elsewhere: `recorded/` holds the ApiVersions and
DescribeConfigs answers of all five releases.
"""

from pathlib import Path

import pytest

from touchstone.reference_impl.broker import registry, unsupported_apis
from touchstone.reference_impl.broker.configs import config_values, config_view
from touchstone.reference_impl.broker.personas import PERSONAS, QUIRKS, persona
from touchstone.reference_impl.broker.personas.config_rows import TYPE_CODES, read
from touchstone.reference_impl.broker.personas.persona import after, ranges, values
from touchstone.reference_impl.broker.personas.quirks import TABLES
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.broker.personas.unstable import with_unstable
from touchstone.reference_impl.tests.control.node import CLOSED, Peer, brokers
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import encode_request

EACH = pytest.mark.parametrize("release", RELEASES)
# A release that was begun and not recorded yet has nothing to be counted against.
RECORDED = sorted(
    path.name.removesuffix(".jsonl.xz")
    for path in Path(__file__).with_name("recorded").glob("*.jsonl.xz")
)
ASKED = pytest.mark.parametrize("release", RECORDED)


def named_keys():
    """Every API key that some release answers, on either listener."""
    return {
        key
        for kind in PERSONAS.values()
        for table in (kind.broker_listener, kind.controller_listener, kind.unlisted_but_served)
        for key in table
    }


def test_short_and_full_names_mean_the_same():
    assert persona("2.8") is persona("2.8.2")
    with pytest.raises(KeyError, match="no persona"):
        persona("3.0")


@EACH
def test_every_listed_version_has_a_schema(release):
    kind = persona(release)
    listed = [*kind.broker_listener.items(), *kind.controller_listener.items()]
    lacking = [
        (key, version)
        for key, (low, high) in listed
        for version in range(low, high + 1)
        if kind.serves(key, version) and not API[key].request.has(version)
    ]
    assert lacking == []


COUNTS = {"1.0": (38, 0), "2.2": (44, 0), "2.8": (56, 0), "3.9": (61, 42), "4.3": (75, 41)}


@ASKED
def test_as_many_keys_as_the_real_one_lists(release):
    kind = persona(release)
    assert (len(kind.broker_listener), len(kind.controller_listener)) == COUNTS[release]


def test_4_3_lists_what_it_refuses():
    """Observed on 4.3.1: Produce 0 to 2 are listed and close the connection."""
    kind = persona("4.3")
    assert kind.broker_listener[0] == (0, 13)
    assert [version for version in range(14) if kind.serves(0, version)] == list(range(3, 14))


def test_telemetry_is_served_where_it_is_not_listed():
    kind = persona("4.3")
    assert 71 not in kind.broker_listener
    assert kind.serves(71, 0) and not kind.serves(71, 0, controller=True)


def test_the_controller_listener_has_its_own_table():
    kind = persona("4.3")
    assert kind.serves(52, 0, controller=True) and not kind.serves(52, 0)
    assert kind.serves(0, 3) and not kind.serves(0, 3, controller=True)


@EACH
def test_every_quirk_has_a_value_and_evidence(release):
    kind = persona(release)
    assert set(kind.quirks) == set(kind.evidence) == set(QUIRKS)
    assert all(kind.evidence.values()) and all(QUIRKS.values())


def test_a_forgotten_quirk_is_noticed():
    rows = dict.fromkeys(QUIRKS, (1, "seen"))
    values(rows)
    rows.pop(next(iter(rows)))
    with pytest.raises(KeyError, match="without a value"):
        values(rows)


def test_a_later_release_names_what_changed_and_keeps_the_rest():
    newest = persona(RELEASES[-1])
    later = after(newest, {"groups.have-configs": (False, "seen later")})
    assert later["quirks"] == {**newest.quirks, "groups.have-configs": False}
    assert later["evidence"]["groups.have-configs"] == "seen later"
    with pytest.raises(KeyError, match="values without a quirk"):
        after(newest, {"groups.have-no-such": (True, "never")})


@EACH
def test_what_a_row_says_of_a_release_its_persona_has(release):
    """A row may not name a release whose own file says what changed."""
    told = [row for table in TABLES for row in table.ROWS.items()]
    quirks = persona(release).quirks
    assert [
        name
        for name, (_, changes, _) in told
        if release in changes and quirks[name] != changes[release]
    ] == []


def test_ranges_are_read_in_their_order():
    assert list(ranges("3:0-13\n 1:4-18").items()) == [(3, (0, 13)), (1, (4, 18))]


def test_each_named_key_is_served_unless_it_is_not_for_clients():
    """What no release lists yet is served as unstable."""
    served, apart = set(registry.stems()), set(unsupported_apis.NOT_FOR_CLIENTS)
    unstable = set(with_unstable(PERSONAS[RELEASES[-1]]).broker_listener)
    assert named_keys() | unstable == served | apart
    assert served & apart == set()


def test_what_is_not_for_clients_is_listed_by_no_release():
    listed = {key for release in RELEASES for key in persona(release).broker_listener}
    assert listed & set(unsupported_apis.NOT_FOR_CLIENTS) == set()


@EACH
def test_what_is_not_for_clients_closes_the_connection(release):
    """A key without a handler is no answer that somebody could take for Kafka's."""
    for key in unsupported_apis.NOT_FOR_CLIENTS:
        peer = Peer(brokers(release)[0])
        assert peer.send(key, 0, encode_request(key, 0, 1, "e2", {})) == CLOSED


# ---------------------------------------------------------------------------------- configs

CONFIG_COUNTS = {
    "1.0": (24, 155),
    "2.2": (25, 188),
    "2.8": (26, 218),
    "3.9": (36, 315),
    "4.3": (33, 340),
}


@ASKED
def test_as_many_configs_as_the_real_one_shows(release):
    topic, broker = config_view.topic_definitions(release), config_view.broker_definitions(release)
    assert (len(topic), len(broker)) == CONFIG_COUNTS[release]


@EACH
def test_every_default_keeps_its_own_rule(release):
    for definition in config_view.topic_definitions(release).values():
        assert definition.type in TYPE_CODES
        config_values.read(definition, definition.default)


def test_a_row_varies_by_release():
    table = """
one INT 1 2.8=2 since=2.2 until=3.9 dynamic=2.8..3.9 rule@2.2=>=_0 rule@3.9=>=_1
two LIST "" type@4.3=STRING sensitive
  synonym=three
"""
    releases = ("1.0", "2.2", "2.8", "3.9", "4.3")
    assert [len(read(table, release)) for release in releases] == [1, 2, 2, 2, 1]
    assert list(read(table, "1.0")) == list(read(table, "4.3")) == ["two"]
    old, new = read(table, "2.2")["one"], read(table, "3.9")["one"]
    assert (old.default, old.dynamic, old.rule) == ("1", False, ">= 0")
    assert (new.default, new.dynamic, new.rule) == ("2", True, ">= 1")
    two = read(table, "4.3")["two"]
    assert (two.type, two.default, two.sensitive, two.synonym) == ("STRING", "", True, "three")


@pytest.mark.parametrize(
    ("kind", "text", "printed"),
    [
        ("LONG", " 7 ", "7"),
        ("BOOLEAN", "TRUE", "true"),
        ("LIST", " a , b", "a,b"),
        ("DOUBLE", "1e10", "1.0E10"),
        ("DOUBLE", "0.0001", "1.0E-4"),
        ("DOUBLE", "NaN", "NaN"),
        ("DOUBLE", "12", "12.0"),
    ],
)
def test_values_print_as_java_prints_them(kind, text, printed):
    definition = read(f"x {kind} -", "4.3")["x"]
    assert config_values.printed(definition, text) == printed


def test_an_unknown_rule_is_our_fault():
    definition = read("x INT - rule@1.0=sometimes", "4.3")["x"]
    with pytest.raises(LookupError, match="sometimes"):
        config_values.read(definition, "1")
