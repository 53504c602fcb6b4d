"""These switches plant defects of streams groups (KIP-1071): (name, sentence, caught by).

`switches.py` lists them with the others; what each changes stands in `broker/defects/streams.py`.
"""

ROWS = (
    (
        "streams-tasks-go-to-two",
        "A member gets its tasks before another has given them up.",
        "rebalance.streams-tasks-are-given-up-before-they-are-given-on",
    ),
    (
        "streams-epochs-not-checked",
        "A heartbeat of any epoch is taken as the member's.",
        "rebalance.streams-members-are-fenced-by-epochs",
    ),
    (
        "streams-members-never-go",
        "A silent member stays in its group.",
        "rebalance.silent-streams-members-are-removed",
    ),
    (
        "streams-leaves-keep-the-epoch",
        "A member that leaves does not raise the group epoch.",
        "rebalance.leaving-streams-members-raise-the-epoch",
    ),
    (
        "streams-shutdowns-not-told",
        "Members do not hear that one of them asked for a shutdown.",
        "rebalance.streams-applications-are-told-to-shut-down",
    ),
    (
        "streams-endpoints-not-told",
        "Members do not hear where others answer queries.",
        "rebalance.streams-members-hear-of-endpoints",
    ),
    (
        "streams-standbys-not-given",
        "Nobody stands by for a task.",
        "rebalance.streams-groups-stand-by",
    ),
    (
        "streams-topics-not-made",
        "Internal topics that are missing are not made.",
        "rebalance.missing-internal-topics-are-made",
    ),
    (
        "streams-joined-topics-not-compared",
        "Joined source topics may have different numbers of partitions.",
        "rebalance.joined-source-topics-have-equally-many-partitions",
    ),
    (
        "streams-first-assignment-at-once",
        "The first assignment waits for nobody.",
        "rebalance.first-streams-assignments-wait-for-members",
    ),
    (
        "streams-groups-not-logged",
        "Streams groups leave nothing in the log.",
        "rebalance.streams-joins-are-records",
    ),
    (
        "streams-commits-of-any-epoch",
        "A member of a streams group commits in any epoch.",
        "rebalance.streams-members-commit-in-the-epoch-of-their-task",
    ),
)
