"""These switches plant defects that other brokers were seen with: (name, sentence, caught by).

Each is a finding of a compatibility sweep over brokers that claim to speak Kafka, so each is one
that somebody will make again. `switches.py` lists them with ours, and
harness/tests/test_known_findings.py says which of the findings each stands for.
"""

ROWS = (
    (
        "last-batch-shut",
        "A fetch from inside the last batch is empty for ever.",
        "fetch.the-last-batch-holds-its-offsets",
    ),
    (
        "auto-creation-never",
        "Metadata makes no topic, whatever it was asked.",
        "topics.metadata-creates-only-where-allowed",
    ),
    (
        "config-lists-fixed",
        "IncrementalAlterConfigs fails when it is to append or subtract.",
        "configs.lists-can-grow-and-shrink",
    ),
    (
        "new-partitions-not-answered",
        "CreatePartitions answers no topic.",
        "topics.partitions-can-be-added",
    ),
    (
        "described-configs-empty",
        "DescribeConfigs knows no config.",
        "configs.a-topic-has-its-own-and-the-defaults",
    ),
    (
        "end-txn-range-narrow",
        "ApiVersions lists EndTxn with its lowest version only.",
        "versions.every-served-api-is-listed",
    ),
    (
        "rebalance-not-told-to-commits",
        "A commit while assignments are awaited is told that its member is unknown.",
        "offsets.commits-while-assignments-are-awaited",
    ),
    (
        "mixed-creations-lost",
        "Of a CreateTopics with one bad topic the good ones are answered and not made.",
        "topics.a-topic-twice-in-one-request-is-refused",
    ),
    (
        "fetch-waits-time-out",
        "A fetch that found nothing in its time answers REQUEST_TIMED_OUT.",
        "fetch.answers-with-what-there-is-when-time-is-up",
    ),
    (
        "epochs-below-the-start-unknown",
        "OffsetForLeaderEpoch knows no epoch that ended below the log's start.",
        "log.an-emptied-log-keeps-its-epoch",
    ),
    (
        "log-end-one-too-high",
        "ListOffsets gives the log end plus one.",
        "offsets.an-empty-log-has-both-ends-at-0",
    ),
    (
        "newer-api-versions-refused",
        "An ApiVersions request of a version from the future closes the connection.",
        "versions.a-version-from-the-future-is-answered-in-version-0",
    ),
    (
        "unserved-versions-advertised",
        "ApiVersions lists one version more of each API than is served.",
        "versions.every-served-api-is-listed",
    ),
    (
        "nothing-committed-is-zero",
        "OffsetFetch answers 0 where nothing was committed.",
        "offsets.a-group-that-is-not-there-has-no-offsets",
    ),
)
