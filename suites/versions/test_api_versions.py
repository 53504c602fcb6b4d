"""ApiVersions: the first request of every client, and the only one answered in any version.

Sources: KIP-35 (ApiVersions), KIP-511 (client software, the version 0 fallback);
org.apache.kafka.common.requests.ApiVersionsRequest; clauses WIRE-19 and WIRE-20.
"""

from harness.claim import claim, every
from harness.expect import answer
from harness.steps import api_versions

UNSUPPORTED_VERSION, INVALID_REQUEST = 35, 42


@claim(
    "versions.api-versions-lists-what-is-served",
    evidence=("WIRE-20", "KIP-35"),
    api="ApiVersions",
    versions=every("ApiVersions"),
)
def test_api_versions_lists_what_is_served(case):
    """ApiVersions answers without error and lists every API with its lowest and highest version."""
    verdict = case.judge(
        api_versions(version=case.version, name="ask"),
        expect=answer("ask", "error_code").is_(0)
        & answer("ask", "api_keys[*].api_key").contains(18),
    )
    assert verdict.conforms, verdict
