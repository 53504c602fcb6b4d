"""Settings and access control by an admin client (KIP-133, KIP-140, KIP-339)."""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, client
from touchstone.suites.kit.admins import does
from touchstone.suites.kit.clients import a_topic, admin

DONE = {"name": "admin_result"}
READER = "User:reader"
AUTHORIZED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "super.users": "User:ANONYMOUS",
}


def _alters(topic, **fields):
    return does("alter_configs", type="topic", name=topic, **fields)


@claim("admin.settings-are-altered-one-by-one", evidence=("KIP-339",), role="client",
       releases="2.8+", switches=("settings-not-altered",))  # fmt: skip
def test_settings_are_altered_one_by_one(case):
    """An admin client that sets one setting of a topic and deletes another asks
    IncrementalAlterConfigs for these two, and a third one stays.
    """
    topic = case.topic()
    before = {"retention.ms": "1000000", "max.message.bytes": "1234"}
    asked = {"api": "IncrementalAlterConfigs", "path": "resources[*].configs[*].config_operation"}
    return case.scenario(
        a_topic(topic, configs=before),
        admin(),
        _alters(topic, set={"segment.bytes": "2000000"}, delete=["retention.ms"]),
        does("describe_configs", 2, type="topic", name=topic),
        expect=all_of(
            client("codes", **DONE).is_(["", ""]),
            client("asked", **asked).is_([[[0, 1]]]),
            client("setting", key="max.message.bytes").is_("1234"),
            client("setting", key="segment.bytes").is_("2000000"),
            client("setting", key="retention.ms").is_("604800000"),
        ),
    )


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


@claim("admin.a-broker-is-asked-for-its-settings", evidence=("KIP-133",), role="client",
       switches=("asks-any-broker",), brokers=3)  # fmt: skip
def test_a_broker_is_asked_for_its_settings(case):
    """DescribeConfigs of a broker goes to that broker, which alone knows its own."""
    return case.scenario(
        admin(),
        does("describe_configs", type="broker", name="2"),
        expect=all_of(
            client("codes", **DONE).is_([""]),
            client("brokers", api="DescribeConfigs").each_is(2),
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


@claim("admin.acls-are-made-and-described", evidence=("KIP-140",), role="client", releases="3.9+",
       switches=("admin-gives-nothing",), config=AUTHORIZED)  # fmt: skip
def test_acls_are_made_and_described(case):
    """An ACL that an admin client makes for a topic is described with its principal, operation and
    permission.
    """
    topic = case.topic()
    return case.scenario(
        admin(),
        does("create_acl", topic=topic, principal=READER),
        does("describe_acls", 2, topic=topic),
        expect=all_of(
            client("codes", **DONE).is_(["", ""]),
            client("results", operation="describe_acls").is_(
                [[{"topic": topic, "principal": READER, "operation": "read",
                   "permission": "allow"}]]
            ),
        ),
    )  # fmt: skip


@claim("admin.acls-are-deleted-by-a-filter", evidence=("KIP-140",), role="client",
       releases="3.9+", switches=("admin-gives-nothing",), config=AUTHORIZED)  # fmt: skip
def test_acls_are_deleted_by_a_filter(case):
    """A deletion of ACLs gives those that its filter met, and they are there no more."""
    topic = case.topic()
    return case.scenario(
        admin(),
        does("create_acl", topic=topic, principal=READER),
        does("delete_acls", 2, topic=topic),
        does("describe_acls", 3, topic=topic),
        expect=all_of(
            client("results", operation="delete_acls").is_(
                [[{"topic": topic, "principal": READER, "operation": "read",
                   "permission": "allow"}]]
            ),
            client("results", operation="describe_acls").is_([[]]),
        ),
    )  # fmt: skip
