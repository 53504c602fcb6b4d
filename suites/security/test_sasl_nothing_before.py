"""Before a client has said who it is nothing is served to it.

Sources: SaslServerAuthenticator.authenticate, handleKafkaRequest, handleSaslToken at 1.0.2 to
4.3.1; KIP-43, KIP-152; clause SEC-03.
"""

import struct

from touchstone.harness.model.claim import claim, only
from touchstone.harness.model.expect import all_of, answer, outcome, refused
from touchstone.harness.model.scenario import Raw
from touchstone.harness.model.steps import api_versions, create_topic, metadata, topic_ready
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.security import at_sasl, authenticate, handshake, plain, sasl

MOST = 524_288  # bytes of a frame before authentication: BrokerSecurityConfigs, LoginManager
FIRST = ("nothing", "versions")  # what was said before


def _said(case, connection):
    """What the case's client said before."""
    if case.first == "nothing":
        return []
    return [api_versions(connection=connection, name="versions")]


@claim(
    "sasl.metadata-is-not-told-before-authentication",
    evidence=("SEC-03", "KIP-43"),
    api="Metadata",
    versions=only("Metadata", 4),
    first=FIRST,
    switches=("sasl-requests-served-before",),
)
def test_metadata_is_not_told_before_authentication(case):
    """Metadata before authentication is answered by the end of the connection."""
    return case.scenario(
        at_sasl("alice"),
        _said(case, "alice"),
        metadata(version=case.version, connection="alice", name="metadata"),
        expect=refused("metadata"),
        config=sasl(case.release),
    )


@claim(
    "sasl.topics-are-not-created-before-authentication",
    evidence=("SEC-03", "KIP-43"),
    api="CreateTopics",
    versions=only("CreateTopics", 2),
    first=FIRST,
)
def test_topics_are_not_created_before_authentication(case):
    """CreateTopics before authentication is answered by the end of the connection, and creates
    nothing."""
    topic = case.topic()
    return case.scenario(
        at_sasl("alice"),
        _said(case, "alice"),
        create_topic(topic, version=case.version, connection="alice", name="create"),
        create_topic(topic, name="create again"),
        topic_ready(topic),
        expect=all_of(
            refused("create"),
            answer("create again", "topics[0].error_code").is_(ErrorCode.NONE),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.requests-in-the-place-of-a-token-are-refused",
    evidence=("SEC-03", "KIP-152"),
    api="Metadata",
    versions=only("Metadata", 4),
)
def test_requests_in_the_place_of_a_token_are_refused(case):
    """A request between SaslHandshake and the token is answered with ILLEGAL_SASL_STATE for each of
    its topics, and its connection is closed: Metadata tells nothing of a topic that exists."""
    topic = case.topic()
    return case.scenario(
        create_topic(topic, name="create"),
        topic_ready(topic),
        at_sasl("alice"),
        handshake("alice"),
        metadata(topic, version=case.version, connection="alice", name="metadata"),
        metadata(connection="alice", name="after"),
        expect=all_of(
            answer("metadata", "brokers").is_([]),
            answer("metadata", "topics[0].error_code").is_(ErrorCode.ILLEGAL_SASL_STATE),
            answer("metadata", "topics[0].partitions").is_([]),
            refused("after"),
        ),
        config=sasl(case.release),
    )


@claim(
    "sasl.a-token-without-a-handshake-is-refused",
    evidence=("SEC-03", "KIP-152"),
    api="SaslAuthenticate",
    versions=only("SaslAuthenticate", 0),
    first=FIRST,
)
def test_a_token_without_a_handshake_is_refused(case):
    """SaslAuthenticate before SaslHandshake is answered by the end of the connection, although its
    token is right."""
    return case.scenario(
        at_sasl("alice"),
        _said(case, "alice"),
        authenticate("alice", plain("alice"), version=case.version, name="authenticate"),
        expect=refused("authenticate"),
        config=sasl(case.release),
    )


@claim(
    "sasl.bytes-that-are-no-request-end-the-connection",
    evidence=("SEC-03", "KIP-43"),
    bytes=(b"\x60\x81garbage", b"\0", b"\x03\xe8\0\0\0\0\0\1\0\0"),
    first=FIRST,
)
def test_bytes_that_are_no_request_end_the_connection(case):
    """A frame before authentication that is no request of a known API ends the connection."""
    return case.scenario(
        at_sasl("alice"),
        _said(case, "alice"),
        Raw(case.bytes, "bytes", "alice"),
        expect=refused("bytes"),
        config=sasl(case.release),
    )


@claim(
    "sasl.frames-have-a-limit-before-authentication",
    evidence=("observed on 1.0.2", "observed on 4.3.1"),
    more=(0, 1),
    switches=("sasl-frames-unlimited",),
)
def test_frames_have_a_limit_before_authentication(case):
    """A frame before authentication may say a size of 524,288 bytes and is then waited for; one
    that says more ends the connection at once."""
    start = struct.pack(">i", MOST + case.more) + struct.pack(">hhi", 17, 1, 1)
    within = case.more == 0
    return case.scenario(
        at_sasl("alice"),
        Raw(start, "start", "alice", framed=False, expect="silence" if within else "close"),
        expect=outcome("start").is_("silent") if within else refused("start"),
        config=sasl(case.release),
    )
