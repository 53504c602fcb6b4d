"""These switches plant what a fuzzer must find: (name, sentence, who notices it).

No claim of a suite is about them, for a suite sends what clients send: they show under broken
frames, after many requests, or in what a process holds. Who notices is an oracle or a watch of
`touchstone.fuzz`; its detection run (`python -m touchstone.fuzz.detection`) plants them.
"""

ROWS = (
    # what comes in, and what goes out
    (
        "every-500th-correlation-id-wrong",
        "Every 500th answer has the id after its own.",
        "correlates",
    ),
    (
        "every-500th-answer-longer",
        "Every 500th answer has a byte more than its fields.",
        "parses",
    ),
    (
        "every-500th-answer-cut",
        "Every 500th answer lacks its last byte.",
        "parses",
    ),
    (
        "unreadable-requests-unanswered",
        "A request that does not parse is neither answered nor ends its connection.",
        "answers_in_time",
    ),
    (
        "unreadable-requests-answered-minus-one",
        "A request that does not parse is answered with UNKNOWN_SERVER_ERROR.",
        "knows_its_errors",
    ),
    (
        "silent-after-40-unreadable",
        "After 40 requests that do not parse nobody is answered.",
        "answers_in_time",
    ),
    # logs
    (
        "every-20th-crc-stored-wrong",
        "Every 20th batch is stored with another CRC than its own.",
        "stored_batches",
    ),
    (
        "half-the-log-lost-on-restart",
        "A log that is opened again lacks its second half.",
        "restart",
    ),
    (
        "cleaner-ends-at-an-unreadable-request",
        "The log cleaner stops for ever at the first request that does not parse.",
        "cleaner",
    ),
    (
        "every-10th-batch-stored-twice",
        "Every tenth batch is appended twice.",
        "canary_records",
    ),
    # coordinators and the controller
    (
        "heartbeats-refused-after-40-unreadable",
        "After 40 requests that do not parse no member is known to Heartbeat.",
        "canary_group_member",
    ),
    (
        "leaders-change-at-40-unreadable",
        "At the 40th request that does not parse every partition has a later leader epoch.",
        "leaders",
    ),
    # what a process holds
    (
        "sockets-kept",
        "The socket of a connection is never closed.",
        "descriptors",
    ),
    (
        "a-file-left-open-per-unreadable",
        "A request that does not parse leaves a file open.",
        "descriptors",
    ),
    (
        "memory-kept-per-request",
        "32 KiB are kept for each request.",
        "memory",
    ),
    (
        "memory-kept-per-unreadable",
        "256 KiB are kept for each request that does not parse.",
        "memory",
    ),
    (
        "memory-kept-per-connection",
        "128 KiB are kept for each connection.",
        "memory",
    ),
    (
        "a-page-logged-per-unreadable",
        "A request that does not parse writes 16 KiB to the log.",
        "log_growth",
    ),
    (
        "a-page-logged-per-request",
        "Every request writes 4 KiB to the log.",
        "log_growth",
    ),
    (
        "slower-with-each-unreadable",
        "Each request that does not parse makes all later ones slower.",
        "canary_connection",
    ),
    (
        "a-timer-left-per-unreadable",
        "A request that does not parse leaves a timer that never ends.",
        "idle_processor",
    ),
    (
        "500-connections-and-no-more",
        "After 500 connections every new one is closed.",
        "canary_connection",
    ),
)
