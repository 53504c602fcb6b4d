"""These switches plant what one value, one order or one codec shows: (name, sentence, who notices).

A fuzzer that draws at random misses them; `broker/defects/values.py` says what they do. Beside
`fuzz_faults`, and read with it.
"""

ROWS = (
    (
        "ends-at-a-cursor-of-the-lowest-partition",
        "DescribeTopicPartitions from partition -2147483648 on ends the broker.",
        "stays_alive",
    ),
    (
        "ends-at-a-forgotten-partition-of-the-highest",
        "A Fetch that forgets partition 2147483647 ends the broker.",
        "stays_alive",
    ),
    (
        "ends-at-an-endpoint-of-port-0",
        "A StreamsGroupHeartbeat with an endpoint of port 0 ends the broker.",
        "stays_alive",
    ),
    (
        "ends-at-a-timestamp-of-2-to-62",
        "ListOffsets of timestamp 4611686018427387904 ends the broker.",
        "stays_alive",
    ),
    (
        "ends-at-an-epoch-next-to-the-highest",
        "OffsetForLeaderEpoch of epoch 2147483646 ends the broker.",
        "stays_alive",
    ),
    (
        "ends-at-a-committed-offset-of-128",
        "An OffsetCommit of offset 128 ends the broker.",
        "stays_alive",
    ),
    (
        "a-fetch-of-one-byte-fails",
        "The handler of a Fetch of at most one byte raises an exception.",
        "knows_its_errors",
    ),
    (
        "an-offset-of-an-epoch-fails",
        "The handler of a ListOffsets that names leader epoch 0 raises an exception.",
        "knows_its_errors",
    ),
    (
        "a-join-of-the-lowest-timeout-fails",
        "The handler of a JoinGroup of session timeout -2147483648 raises an exception.",
        "knows_its_errors",
    ),
    (
        "a-join-of-no-timeout-is-never-answered",
        "A JoinGroup of session timeout 0 is never answered.",
        "answers_in_time",
    ),
    (
        "crc-of-lz4-not-checked",
        "A batch that is compressed with LZ4 is stored whatever its CRC says.",
        "refuses_wrong_checksums",
    ),
    (
        "crc-of-zstd-not-checked",
        "A batch that is compressed with Zstandard is stored whatever its CRC says.",
        "refuses_wrong_checksums",
    ),
    (
        "answers-that-waited-are-exchanged",
        "Of two answers that leave at once each goes to the other's connection.",
        "correlates",
    ),
    (
        "a-deletion-without-a-name-deletes-another",
        "DeleteTopics of neither a name nor an id deletes another topic.",
        "bystanders",
    ),
    (
        "a-group-without-a-name-is-all-groups",
        "DeleteGroups of an empty name deletes every group.",
        "bystanders",
    ),
    (
        "a-refused-batch-removes-the-last-one",
        "A batch that is refused takes the last record of its partition away.",
        "acknowledged",
    ),
    (
        "64-kib-kept-per-list-of-groups",
        "64 KiB are kept for each ListGroups.",
        "memory",
    ),
    (
        "a-limit-is-reserved",
        "DescribeTopicPartitions reserves a byte for each partition of its limit, up to 768 MiB.",
        "memory",
    ),
    (
        "described-configs-are-quadratic",
        "DescribeConfigs takes time by the square of how many resources it names.",
        "canary_connection",
    ),
    (
        "ends-at-a-session-that-was-closed",
        "A Fetch of a session that was closed ends the broker.",
        "stays_alive",
    ),
    (
        "ends-at-the-third-transaction",
        "The third EndTxn of a producer ends the broker.",
        "stays_alive",
    ),
    (
        "ends-when-a-static-member-joins-again",
        "A static member that joins a second time without its id ends the broker.",
        "stays_alive",
    ),
)
