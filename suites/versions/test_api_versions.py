"""ApiVersions: the first request of every client, and the only one answered in any version.

Sources: KIP-35 (ApiVersions), KIP-511 (client software names, the answer in version 0);
ApiVersionsRequest.getErrorResponse and SaslServerAuthenticator at 2.8.2; clauses WIRE-18 to 20.
"""

import struct

from touchstone.harness.model import advertised
from touchstone.harness.model.claim import OBSERVED, claim, every, range_
from touchstone.harness.model.expect import (
    all_of,
    answer,
    answered,
    by_release,
    connection,
    refused,
)
from touchstone.harness.model.scenario import Ask, Frame, Raw
from touchstone.harness.model.steps import api_versions, metadata
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.errors import ErrorCode

API_VERSIONS = 18
NO_TAGS = b"\0"


def request(key: int, version: int, rest: bytes = b"") -> bytes:
    """A request's header with a client id, and whatever follows it."""
    return struct.pack(">hhih", key, version, 7, 10) + b"touchstone" + rest


@claim(
    "versions.every-served-api-is-listed",
    evidence=("WIRE-20", "KIP-35"),
    api="ApiVersions",
    versions=every("ApiVersions"),
)
def test_every_served_api_is_listed(case):
    """ApiVersions answers no error and lists the APIs that the broker serves, with their lowest and
    highest versions."""
    return case.scenario(
        api_versions(version=case.version, name="ask"),
        expect=all_of(
            answer("ask", "error_code").is_(ErrorCode.NONE),
            answer("ask", "api_keys[*].api_key").contains(API_VERSIONS),
        ),
    )


@claim(
    "versions.a-version-from-the-future-is-answered-in-version-0",
    evidence=("WIRE-19", "KIP-511"),
    asked=(5, 6, 100, 32767),
)
def test_a_version_from_the_future_is_answered_in_version_0(case):
    """ApiVersions in an unknown version is answered in version 0 with UNSUPPORTED_VERSION, and the
    connection stays open."""
    future = request(API_VERSIONS, case.asked, NO_TAGS)
    return case.scenario(
        Raw(future, name="future", expect="answer", api="ApiVersions", version=0),
        metadata(name="after"),
        expect=all_of(
            answer("future", "error_code").is_(ErrorCode.UNSUPPORTED_VERSION),
            by_release(
                {
                    "1.0-2.2": answer("future", "api_keys").has_length(0),
                    "2.8+": answer("future", "api_keys").has_length(1),
                }
            ),
            answered("after"),
        ),
    )


@claim(
    "versions.an-api-nobody-has-closes-the-connection",
    evidence=("WIRE-18", "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1"),
    key=(-1, 93, 1000, 32767),
)
def test_an_api_nobody_has_closes_the_connection(case):
    """A request with an unknown API key closes its connection and no other."""
    return case.scenario(
        Raw(request(case.key, 0), name="unknown", connection="b", expect="close"),
        metadata(name="after"),
        expect=all_of(refused("unknown"), connection("a").is_("kept")),
    )


@claim(
    "versions.unserved-versions-close-the-connection",
    evidence=("WIRE-19",),
    switches=("unknown-version-answered",),
    asked=("Produce", "Fetch", "ListOffsets", "Metadata", "FindCoordinator", "CreateTopics"),
    version_is=("newest plus one", "32767", "-1"),
    full=True,
)
def test_unserved_versions_close_the_connection(case):
    """A request of any API but ApiVersions in a version that the release lacks closes its
    connection."""
    newest = advertised.table(case.release)[by_name(case.asked).key][1]
    version = newest + 1 if case.version_is == "newest plus one" else int(case.version_is)
    well_formed = Frame(case.asked, newest, {}, patch=((2, struct.pack(">h", version)),))
    return case.scenario(
        Raw(
            well_formed,
            name="odd",
            connection="b",
            expect="close",
            api=case.asked,
            version=version,
        ),
        metadata(name="after"),
        expect=all_of(refused("odd"), answered("after")),
    )


@claim(
    "versions.client-software-is-checked",
    evidence=("KIP-511",),
    level=OBSERVED,
    api="ApiVersions",
    versions=range_("ApiVersions", 3),
    software=("touchstone", "a.b-c", "", "-a", "a-", "a b", "\u00e9"),
)
def test_client_software_is_checked(case):
    """ApiVersions since version 3 answers INVALID_REQUEST for a client software name that is not
    letters and digits with "." or "-" inside."""
    good = case.software in ("touchstone", "a.b-c")
    body = {"client_software_name": case.software, "client_software_version": "1.0"}
    return case.scenario(
        Ask("ApiVersions", case.version, body, name="ask"),
        expect=answer("ask", "error_code").is_(
            ErrorCode.NONE if good else ErrorCode.INVALID_REQUEST
        ),
    )
