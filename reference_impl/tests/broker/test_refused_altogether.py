"""One resource that ends the whole of AlterConfigs, as 1.0.2, 2.2.1 and 2.8.2 answered it; KRaft
answers each resource for itself.
"""

import pytest

from touchstone.reference_impl.tests.broker.one_broker import OneBroker

TOPIC, LOGGER, METRICS = 2, 8, 16
FINE = TOPIC, "t", "1000"


def altered(release: str, *resources: tuple, api: str = "AlterConfigs") -> dict:
    core = OneBroker(release)
    core.topic("t")
    how = {"config_operation": 0} if api == "IncrementalAlterConfigs" else {}
    rows = [
        {
            "resource_type": kind,
            "resource_name": name,
            "configs": [{"name": "retention.ms", "value": value, **how}],
        }
        for kind, name, value in resources
    ]
    answer = core.ask(api, 0, {"resources": rows, "validate_only": True})
    return {
        row["resource_name"]: (row["error_code"], row["error_message"])
        for row in answer["responses"]
    }


@pytest.mark.parametrize("release", ["1.0", "2.2", "2.8"])
@pytest.mark.parametrize("kind", [0, 1, 3, METRICS, 99])
def test_a_type_that_is_not_altered(release, kind):
    told = altered(release, FINE, (kind, "odd", "1"))
    assert told["t"] == told["odd"]
    assert told["t"][0] == 42
    assert told["t"][1].startswith("Unexpected resource type ")


def test_a_type_below_zero():
    assert altered("2.8", FINE, (-2, "odd", "1"))["t"][0] == 42


def test_the_loggers_of_2_8():
    told = altered("2.8", (LOGGER, "0", "INFO"), FINE)
    said = "AlterConfigs is deprecated and does not support the resource type BROKER_LOGGER"
    assert told == {"0": (42, said), "t": (42, said)}


@pytest.mark.parametrize("api", ["AlterConfigs", "IncrementalAlterConfigs"])
def test_kraft_answers_each_for_itself(api):
    for release in ("3.9", "4.3"):
        told = altered(release, FINE, (99, "odd", "1"), api=api)
        assert told == {"t": (0, None), "odd": (42, "Unknown resource type 99")}


def test_the_same_for_single_changes_of_2_8():
    told = altered("2.8", FINE, (99, "odd", "1"), api="IncrementalAlterConfigs")
    assert {code for code, _ in told.values()} == {42}


def test_a_null_value():
    assert altered("2.8", FINE, (TOPIC, "b", None)) == {"t": (-1, None), "b": (-1, None)}
    assert altered("2.8", FINE, (99, "b", None)) == {"t": (-1, None), "b": (-1, None)}
    assert altered("1.0", FINE, (TOPIC, "b", None)) == {"t": (0, None), "b": (-1, None)}
    for release in ("3.9", "4.3"):
        said = "Null value not supported for : retention.ms"
        assert altered(release, FINE, (TOPIC, "b", None)) == {"t": (0, None), "b": (42, said)}
