"""Where ZooKeeper releases differ in what they keep there: one row each.

A row is the sentence, the value per release in the order of `RELEASES`, and where it was seen.
`quirks.py` has that order and the names, each persona takes its column; None stands where a
release has no ZooKeeper.
"""

from __future__ import annotations

from typing import Any

_READ = "znodes of 1.0.2, 2.2.1, 2.8.2"
_TAKEN = (
    "A broker is already registered on the path {path}. This probably indicates that you either "
    "have configured a brokerid that is already in use, or else you have shutdown this broker and "
    "restarted it faster than the zookeeper timeout so it appears to be re-registering."
)
_OWNED = (
    "Error while creating ephemeral at {path}, node already exists and owner '{owner}' does not "
    "match current session '{session}'"
)
_ROOTS = ("topics", "clients", "users", "brokers")

ROWS: dict[str, tuple[str, tuple[Any, Any, Any, Any, Any], str]] = {
    "registry.config-roots": (
        "The kinds of entities that have a znode below /config from the start.",
        (("topics", "clients"), _ROOTS, (*_ROOTS, "ips"), None, None),
        _READ,
    ),
    "registry.broker-version": (
        "The version of /brokers/ids/N: 4 has racks and listeners, 5 has features (KIP-584).",
        (4, 4, 5, None, None),
        _READ,
    ),
    "registry.topic-version": (
        "The version of /brokers/topics/T: 1 has replicas, 3 a topic id and what is being moved.",
        (1, 1, 3, None, None),
        _READ,
    ),
    "registry.growth-keeps-order": (
        "New partitions of a topic with up to four stand after the old ones in its znode.",
        (False, True, False, None, None),
        _READ,
    ),
    "registry.taken-id": (
        "What a broker says that does not start because its id is registered (BRK-30).",
        (_TAKEN, _OWNED, _OWNED, None, None),
        "a second broker 0 beside one of 1.0.2, 2.2.1, 2.8.2",
    ),
    "registry.changes-hash-as": (
        "Whose hash decides in which order partitions stand in an announcement of changed ISRs: "
        "Scala's of its map, or that of the map seen as Java's; None where none is written.",
        ("scala", "java", None, None, None),
        "ReplicationUtils@1.0.2, IsrChangeNotificationSequenceZNode@2.2.1; znodes of both",
    ),
}
