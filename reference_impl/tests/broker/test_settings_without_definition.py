"""Settings that no release defines, as 2.2.1, 2.8.2, 3.9.2 and 4.3.1 take and show them, and those
that are secrets.
"""

import pytest

from touchstone.reference_impl.tests.broker.one_broker import OneBroker

TOPIC, BROKER = 2, 4
ONE_BROKER, ALL_BROKERS = 2, 3  # sources
SET, APPEND = 0, 2
NAME, ONE, ALL = "no.such.setting", "0", ""
VALUE = "a secret, maybe"


def put(core: OneBroker, kind: int, name: str, *config: object) -> tuple[int, str | None]:
    """The code and the message of a change to one resource."""
    key, operation, value = config
    change = {"name": key, "config_operation": operation, "value": value}
    row = {"resource_type": kind, "resource_name": name, "configs": [change]}
    body = {"resources": [row], "validate_only": False}
    (told,) = core.ask("IncrementalAlterConfigs", 0, body)["responses"]
    return told["error_code"], told["error_message"]


def shown(core: OneBroker, name: str) -> dict:
    row = {"resource_type": BROKER, "resource_name": name, "configuration_keys": [NAME]}
    body = {"resources": [row], "include_synonyms": True, "include_documentation": True}
    (told,) = core.ask("DescribeConfigs", 3, body)["results"]
    (config,) = told["configs"]
    return config


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.3"])
def test_a_broker_takes_any_and_never_tells_its_value(release):
    core = OneBroker(release)
    for name in (ONE, ALL):
        assert put(core, BROKER, name, NAME, SET, VALUE) == (0, None)
    behind = [{"name": NAME, "value": None, "source": ALL_BROKERS}]
    before = [{"name": NAME, "value": None, "source": ONE_BROKER}]
    both = {
        "name": NAME, "value": None, "read_only": True, "is_sensitive": True, "config_type": 0,
        "documentation": None,
    }  # fmt: skip
    expected = both | {"config_source": ONE_BROKER, "synonyms": before + behind}
    assert shown(core, ONE) == expected
    assert shown(core, ALL) == both | {"config_source": ALL_BROKERS, "synonyms": behind}


@pytest.mark.parametrize("release", ["2.2", "2.8", "3.9", "4.3"])
def test_one_that_the_broker_began_with_is_told_as_a_secret(release):
    listeners = "listener.name.plaintext.no.such"
    core = OneBroker(release, **{NAME: VALUE, listeners: VALUE})
    row = {"resource_type": BROKER, "resource_name": ONE, "configuration_keys": None}
    body = {"resources": [row]}
    (told,) = core.ask("DescribeConfigs", 1, body)["results"]
    found = {each["name"]: each for each in told["configs"]}
    for name in (NAME, listeners):
        assert found[name]["value"] is None and found[name]["config_source"] == 4
        assert found[name]["is_sensitive"] and found[name]["read_only"]


def test_before_kip_226_what_is_defined_was_all_that_was_told():
    core = OneBroker("1.0", **{NAME: VALUE, "listener.name.plaintext.no.such": VALUE})
    row = {"resource_type": BROKER, "resource_name": ONE, "configuration_keys": None}
    body = {"resources": [row]}
    (told,) = core.ask("DescribeConfigs", 0, body)["results"]
    assert len(told["configs"]) == 155, "as real Kafka 1.0.2 with these two"


@pytest.mark.parametrize(("release", "code"), [("2.8", 3), ("3.9", 40), ("4.3", 40)], ids=str)
def test_of_a_topic_that_does_not_exist_kraft_looks_at_the_setting_first(release, code):
    assert put(OneBroker(release), TOPIC, "nothing", NAME, SET, VALUE)[0] == code


@pytest.mark.parametrize(("release", "code"), [("2.8", 42), ("3.9", 40), ("4.3", 40)])
def test_what_is_no_list_takes_no_element_of_whatever_topic(release, code):
    assert put(OneBroker(release), TOPIC, "nothing", "retention.ms", APPEND, "7")[0] == code


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.3"])
def test_of_a_secret_is_told_where_it_is_set_and_no_value(release):
    """ConfigHelper.configSynonyms at 2.8.2 to 4.3.1."""
    core = OneBroker(release, **{"ssl.key.password": VALUE})
    keys = ["ssl.key.password"]
    row = {"resource_type": BROKER, "resource_name": ONE, "configuration_keys": keys}
    body = {"resources": [row], "include_synonyms": True, "include_documentation": True}
    (told,) = core.ask("DescribeConfigs", 3, body)["results"]
    (config,) = told["configs"]
    assert config["is_sensitive"] and config["value"] is None
    assert config["synonyms"] == [{"name": "ssl.key.password", "value": None, "source": 4}]
