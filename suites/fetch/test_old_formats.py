"""Down-conversion: old Fetch versions get message formats 0 and 1 from batches of format 2.

Kafka 4.x serves no version that needs it.

Sources: KIP-283, KafkaApis.convertRecords and RecordsUtil.downConvert at 2.2.1; clause FETCH-18.
"""

from touchstone.harness.model.claim import claim, range_
from touchstone.harness.model.expect import all_of, answer, batches, by_release, records
from touchstone.harness.model.steps import a_topic, fetch
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import ONE, THREE, TWO, batch
from touchstone.suites.kit.topics import a_log

MAGIC = {0: 0, 1: 0, 2: 1, 3: 1}


@claim(
    "fetch.old-versions-get-old-formats",
    evidence=("FETCH-18", "KIP-283"),
    api="Fetch",
    versions=range_("Fetch", 0, 3),
)
def test_old_versions_get_old_formats(case):
    """Fetch versions 0 and 1 answer messages of format 0, versions 2 and 3 of format 1."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE, TWO), batch(THREE)),
        fetch(topic, version=case.version, max_wait_ms=0, name="fetch"),
        expect=all_of(
            batches("fetch", "[0].magic").is_(MAGIC[case.version]),
            records("fetch", "[*].offset").is_([0, 1, 2]),
            records("fetch", "[*].value").is_([ONE, TWO, THREE]),
        ),
    )


@claim(
    "fetch.conversion-drops-what-lies-before-the-offset",
    evidence=("FETCH-18", "FETCH-15"),
    api="Fetch",
    versions=range_("Fetch", 0, 3),
    where=lambda row: row["version"] in (0, 3),
)
def test_conversion_drops_what_lies_before_the_offset(case):
    """A down-converted batch begins with the requested record instead of the batch's first."""
    topic = case.topic()
    return case.scenario(
        a_log(topic, batch(ONE, TWO, THREE)),
        fetch(topic, 0, 1, version=case.version, max_wait_ms=0, name="fetch"),
        expect=records("fetch", "[0].offset").is_(1),
    )


@claim(
    "fetch.conversion-loses-headers-and-keeps-keys",
    evidence=("FETCH-18", "KIP-82"),
    api="Fetch",
    versions=range_("Fetch", 0, 3),
    where=lambda row: row["version"] in (1, 2),
)
def test_conversion_loses_headers_and_keeps_keys(case):
    """Down-conversion keeps keys and null values and drops headers."""
    topic = case.topic()
    rows = [
        {"key": b"key", "value": ONE, "headers": [("h", b"1"), ("h", None)]},
        {"key": b"key", "value": None},
    ]
    return case.scenario(
        a_log(topic, batch(*rows)),
        fetch(topic, version=case.version, max_wait_ms=0, name="fetch"),
        expect=all_of(
            records("fetch", "[*].key").is_([b"key", b"key"]),
            records("fetch", "[*].value").is_([ONE, None]),
            records("fetch", "[0].headers").has_length(0),
            batches("fetch", "[0].magic").is_(MAGIC[case.version]),
        ),
    )


@claim(
    "fetch.conversion-can-be-forbidden",
    evidence=("KIP-283",),
    api="Fetch",
    versions=range_("Fetch", 0, 4),
    releases="2.2-3.9",
    where=lambda row: row["version"] in (0, 3, 4),
)
def test_conversion_can_be_forbidden(case):
    """With message.downconversion.enable=false Fetch versions below 4 answer
    UNSUPPORTED_VERSION.
    """
    topic = case.topic()
    old = case.version < 4
    return case.scenario(
        a_log(topic, batch(ONE), configs={"message.downconversion.enable": "false"}),
        fetch(topic, version=case.version, max_wait_ms=0, name="fetch"),
        expect=answer("fetch", "responses[0].partitions[0].error_code").is_(
            ErrorCode.UNSUPPORTED_VERSION if old else ErrorCode.NONE
        ),
    )


@claim(
    "fetch.zstd-before-version-10",
    evidence=("KIP-110",),
    api="Fetch",
    versions=range_("Fetch", 0, 10),
    releases="2.2+",
    where=lambda row: row["version"] in (0, 4, 9, 10),
)
def test_zstd_before_version_10(case):
    """With compression.type=zstd Fetch versions below 10 answer UNSUPPORTED_COMPRESSION_TYPE; 4.x
    serves them.
    """
    topic = case.topic()
    code = answer("fetch", "responses[0].partitions[0].error_code")
    refused = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE if case.version < 10 else ErrorCode.NONE
    return case.scenario(
        a_topic(topic, configs={"compression.type": "zstd"}),
        fetch(topic, version=case.version, max_wait_ms=0, name="fetch"),
        expect=by_release({"2.2-3.9": code.is_(refused), "4.3+": code.is_(ErrorCode.NONE)}),
    )
