"""Which error codes each API may give: a table of facts, used by `legal_error_codes`.

Drawn from the errors that Kafka's handlers and clients know for each API (KafkaApis and the
*Response classes at 1.0.2, 2.2.1, 2.8.2, 3.9.2, 4.3.1) and from what the five releases were seen
to answer. Codes by number because a transcript has numbers; `wire.errors` has their names.
"""

from __future__ import annotations

# What any API may say: 31 cluster authorization, 33/34 SASL, 35 unsupported version, 42 invalid
# request, 58 SASL failed, 89 throttled (KIP-599), 115 the broker is shutting its group layer down.
EVERYWHERE = frozenset({31, 33, 34, 35, 42, 58})

_TOPIC = {3, 17, 29}  # unknown, invalid name, authorization
_LEADER = {5, 6, 9, 56, 74, 75, 76, 84}  # leadership, storage, leader epochs
_BY_ID = {100, 103}
_CONTROLLER = {7, 41, 66, 89}
_PRODUCER = {45, 46, 47, 48, 49, 50, 51, 53, 59, 67, 90, 120, 121}

LEGAL: dict[str, frozenset[int]] = {
    name: frozenset(codes)
    for name, codes in {
        "Produce": _TOPIC
        | _LEADER
        | _BY_ID
        | _PRODUCER
        | {1, 2, 7, 8, 10, 13, 18, 19, 20, 21, 32, 43, 44, 60, 87},
        "Fetch": _TOPIC | _LEADER | _BY_ID | {1, 2, 7, 43, 70, 71, 77, 78, 79, 92, 98, 106, 107},
        "ListOffsets": _TOPIC | _LEADER | {1, 7, 43, 78, 79},
        "Metadata": _TOPIC | _BY_ID | {5, 9, 38, 44, 72, 7, 14, 41, 104},
        "CreateTopics": {3, 7, 17, 29, 36, 37, 38, 39, 40, 41, 44, 60, 89, 66},
        "DeleteTopics": _CONTROLLER | {3, 17, 29, 44, 60, 73, 100},
        "CreatePartitions": _CONTROLLER | {3, 17, 29, 37, 38, 39, 40, 44, 60},
        "DescribeConfigs": {3, 17, 29, 40, 41, 69},
        "AlterConfigs": {3, 7, 17, 29, 40, 41, 44, 69, 89},
        "IncrementalAlterConfigs": {3, 7, 17, 29, 40, 41, 44, 69, 89},
        "InitProducerId": {7, 14, 15, 16, 47, 48, 49, 50, 51, 53, 59, 67, 90, 105, 120},
        "DeleteRecords": _TOPIC | _LEADER | {1, 7, 44, 60},
        "FindCoordinator": {14, 15, 16, 24, 29, 30, 53, 3},
        "OffsetForLeaderEpoch": _TOPIC | _LEADER | {1, 7},
        "ApiVersions": set(),
        "DescribeCluster": {114, 115},
    }.items()
}
