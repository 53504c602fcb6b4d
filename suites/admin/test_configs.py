"""Settings and access control by an admin client (KIP-133, KIP-140, KIP-339)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.suites.kit.admins import does
from touchstone.suites.kit.clients import a_topic, admin

DONE = {"name": "admin_result"}


def _alters(topic, **fields):
    return does("alter_configs", type="topic", name=topic, **fields)


@claim("admin.a-setting-that-cannot-be-is-reported", evidence=("KIP-339",), role="client",
       releases="2.8+", switches=("admin-errors-swallowed",))  # fmt: skip
def test_a_setting_that_cannot_be_is_reported(case):
    """An admin client that gives a number of bytes as a word reports INVALID_CONFIG."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic),
        admin(),
        _alters(topic, set={"segment.bytes": "many"}),
        expect=client("codes", **DONE).is_(["INVALID_CONFIG"]),
    )


@claim("admin.settings-of-a-topic-are-described", evidence=("KIP-133",), role="client",
       switches=("admin-gives-nothing",))  # fmt: skip
def test_settings_of_a_topic_are_described(case):
    """An admin client gives a topic's settings: those that it was made with, and defaults."""
    topic = case.topic()
    return case.scenario(
        a_topic(topic, configs={"max.message.bytes": "1234"}),
        admin(),
        does("describe_configs", type="topic", name=topic),
        expect=all_of(
            client("setting", key="max.message.bytes").is_("1234"),
            client("setting", key="cleanup.policy").is_("delete"),
        ),
    )


@claim("admin.acls-want-an-authorizer", evidence=("KIP-140",), role="client",
       switches=("admin-errors-swallowed",))  # fmt: skip
def test_acls_want_an_authorizer(case):
    """A broker without an authorizer gives an admin client that asks for ACLs SECURITY_DISABLED."""
    topic = case.topic()
    return case.scenario(
        admin(),
        does("describe_acls", topic=topic),
        expect=client("codes", **DONE).is_(["SECURITY_DISABLED"]),
    )
