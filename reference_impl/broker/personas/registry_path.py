"""Where ZooKeeper releases differ in what they keep there: one row each.

A row is the sentence, the value from each release on that changed it, and where it was seen; how it
is read stands in `releases.py`. None stands where a release has no ZooKeeper.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows

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

ROWS: Rows = {
    "registry.config-roots": (
        "The kinds of entities that have a znode below /config from the start.",
        {"1.0": ("topics", "clients"), "2.2": _ROOTS, "2.8": (*_ROOTS, "ips"), "3.9": None},
        _READ,
    ),
    "registry.broker-version": (
        "The version of /brokers/ids/N: 4 has racks and listeners, 5 has features (KIP-584).",
        {"1.0": 4, "2.8": 5, "3.9": None},
        _READ,
    ),
    "registry.topic-version": (
        "The version of /brokers/topics/T: 1 has replicas, 3 a topic id and what is being moved.",
        {"1.0": 1, "2.8": 3, "3.9": None},
        _READ,
    ),
    "registry.growth-keeps-order": (
        "New partitions of a topic with up to four stand after the old ones in its znode.",
        {"1.0": False, "2.2": True, "2.8": False, "3.9": None},
        _READ,
    ),
    "registry.taken-id": (
        "What a broker says that does not start because its id is registered (BRK-30).",
        {"1.0": _TAKEN, "2.2": _OWNED, "3.9": None},
        "a second broker 0 beside one of 1.0.2, 2.2.1, 2.8.2",
    ),
    "registry.changes-hash-as": (
        "Whose hash decides in which order partitions stand in an announcement of changed ISRs: "
        "Scala's of its map, or that of the map seen as Java's; None where none is written.",
        {"1.0": "scala", "2.2": "java", "2.8": None},
        "ReplicationUtils@1.0.2, IsrChangeNotificationSequenceZNode@2.2.1; znodes of both",
    ),
    "registry.acl-patterns": (
        "There is a tree for prefixed ACLs, and a folder for each type of resource from the start.",
        {"1.0": False, "2.2": True, "3.9": None},
        _READ,
    ),
    "registry.acl-changes-shout": (
        "An announcement of changed ACLs names the type of the resource as TOPIC, not Topic.",
        {"1.0": False, "2.8": True, "3.9": None},
        _READ,
    ),
}
