"""IncrementalAlterConfigs with an operation that does not exist, and names that are no broker's id,
as 2.8.2, 3.9.2 and 4.3.1 answered them.
"""

import pytest

from touchstone.reference_impl.tests.broker.one_broker import OneBroker

TOPIC, BROKER, LOGGER = 2, 4, 8
SET, APPEND, ODD = 0, 2, 4
ALL, KRAFT = ["2.8", "3.9", "4.3"], ["3.9", "4.3"]
UNKNOWN = -1, None
NUMBER = "log.cleaner.threads"
TOO_LARGE = "99999999999"


def put(release: str, kind: int, name: str, *changes: tuple) -> tuple[int, str | None]:
    row = {
        "resource_type": kind,
        "resource_name": name,
        "configs": [{"name": k, "config_operation": o, "value": v} for k, o, v in changes],
    }
    body = {"resources": [row], "validate_only": True}
    (told,) = OneBroker(release).ask("IncrementalAlterConfigs", 1, body)["responses"]
    return told["error_code"], told["error_message"]


def described(release: str, kind: int, name: str) -> tuple[int, str | None]:
    row = {"resource_type": kind, "resource_name": name, "configuration_keys": []}
    body = {"resources": [row], "include_synonyms": False, "include_documentation": False}
    (told,) = OneBroker(release).ask("DescribeConfigs", 3, body)["results"]
    return told["error_code"], told["error_message"]


@pytest.mark.parametrize("release", ALL)
@pytest.mark.parametrize(
    ("kind", "name", "key"),
    [(TOPIC, "nothing", "retention.ms"), (TOPIC, "b d", "x"), (LOGGER, "0", "root")],
)
def test_nothing_is_said_of_an_operation_that_does_not_exist(release, kind, name, key):
    assert put(release, kind, name, (key, ODD, "1")) == UNKNOWN


@pytest.mark.parametrize("operation", [-1, 4, 127])
@pytest.mark.parametrize("name", ["0", ""])
def test_a_broker_of_kraft_names_it_before_its_controller_sees_it(operation, name):
    said = 42, f"Unknown operations type {operation}"
    good = (NUMBER, SET, "1"), ("num.io.threads", operation, "8")
    no_list = (NUMBER, APPEND, "1"), ("num.io.threads", operation, "8")
    for release in KRAFT:
        assert put(release, BROKER, name, *good) == said == put(release, BROKER, name, *no_list)
    assert put("2.8", BROKER, name, *good) == UNKNOWN
    assert put("2.8", BROKER, name, *no_list)[0] == 42


@pytest.mark.parametrize("release", ALL)
def test_what_comes_twice_or_is_null_is_refused_before(release):
    for kind, name, key in (
        (TOPIC, "t", "retention.ms"),
        (BROKER, "0", "a"),
        (LOGGER, "0", "root"),
    ):
        null = put(release, kind, name, (key, ODD, None))
        assert null == (42, f"Null value not supported for : {'null:' * (release == '2.8')}{key}")
        assert put(release, kind, name, (key, ODD, "1"), (key, ODD, "1"))[0] == 42


@pytest.mark.parametrize("release", ALL)
def test_the_first_change_of_a_logger_that_is_wrong_is_told(release):
    code, message = put(release, LOGGER, "0", ("nope", SET, "INFO"), ("root", ODD, "INFO"))
    assert (code, message.endswith("Logger nope does not exist!")) == (
        42 if release == "2.8" else 40,
        True,
    )


@pytest.mark.parametrize("name", ["", "b d", ".", "a" * 250])
def test_kraft_looks_at_the_change_before_the_name_of_a_topic(name):
    message = "Can't APPEND to key retention.ms because its type is not LIST."
    for release in KRAFT:
        assert put(release, TOPIC, name, ("retention.ms", APPEND, "1")) == (40, message)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x", "Node id must be an integer, but it is: x"),
        ("", "Node id must be an integer, but it is: "),
        (TOO_LARGE, f"Node id must be an integer, but it is: {TOO_LARGE}"),
        ("7", "Unexpected node id. Expected 0, but received 7"),
    ],
)
def test_whose_loggers_are_altered(name, said):
    change = "root", SET, "INFO"
    assert put("4.3", LOGGER, name, change) == (42, said)
    assert put("3.9", LOGGER, name, change) == (42, said.replace("received 7", "received 0"))
    said = said.replace("Node", "Broker").replace("node id. Expected", "broker id, expected")
    if name:
        assert put("2.8", LOGGER, name, change) == (42, said)


@pytest.mark.parametrize("release", ALL)
def test_whose_configs_are_described(release):
    integer = "Broker id must be an integer, but it is: {}".format
    for kind in (BROKER, LOGGER):
        for name in ("x", TOO_LARGE):
            assert described(release, kind, name) == (42, integer(name))
        assert described(release, kind, "+0")[0] == 0
    assert described(release, LOGGER, "") == (42, "Broker id must not be empty")
