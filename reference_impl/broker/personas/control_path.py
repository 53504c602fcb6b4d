"""Where releases differ in what topics, configs, coordinators and ApiVersions do: one row each.

A row is the sentence, the value from each release on that changed it, and where it was seen; how it
is read stands in `releases.py`.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows
from touchstone.reference_impl.wire.errors import ErrorCode as E

_SEEN = "observed on 1.0.2, 2.2.1, 2.8.2, 3.9.2, 4.3.1"
_LEVELS = ("DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN")
_HASHED_LEVELS = ("TRACE", "ERROR", "INFO", "FATAL", "DEBUG", "WARN")

ROWS: Rows = {
    "api-versions.fallback-lists-itself": (
        "An ApiVersions request of a version the broker does not know is answered in version 0 "
        "with UNSUPPORTED_VERSION and one row, ApiVersions' own range (KIP-511); without the "
        "quirk the list is empty.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "metadata.names-are-always-checked": (
        "An illegal topic name answers INVALID_TOPIC_EXCEPTION even where nothing would be "
        "created; without the quirk it is an unknown topic.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "metadata.answer-when-creating": (
        "The error code of the Metadata answer whose request has just created the topic.",
        {"1.0": E.LEADER_NOT_AVAILABLE, "3.9": E.UNKNOWN_TOPIC_OR_PARTITION},
        _SEEN,
    ),
    "topics.configs-are-checked-first": (
        "CreateTopics names a bad config before a bad partition count, name or assignment.",
        {"1.0": True, "2.8": False, "3.9": True},
        _SEEN,
    ),
    "topics.bad-config-values-have-a-code": (
        "A config value that cannot be read answers INVALID_CONFIG; without the quirk it is "
        "UNKNOWN_SERVER_ERROR, with the same message.",
        {"1.0": False, "2.2": True},
        _SEEN,
    ),
    "topics.minus-one-means-the-default": (
        "CreateTopics takes the broker's default for -1 partitions or replicas (KIP-464), in "
        "every version of the request.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "topics.each-repeated-entry-is-answered": (
        "An entry that comes twice in CreateTopics or DeleteTopics, or in a CreatePartitions that "
        "fails as a whole, is answered twice, in place.",
        {"1.0": False, "2.8": True, "3.9": False},
        _SEEN,
    ),
    "topics.partition-ids-may-have-gaps": (
        "A manual assignment may leave out partition ids; the topic then has such a hole.",
        {"1.0": True, "2.8": False},
        _SEEN,
    ),
    "topics.assignments-print-as": (
        "How the message about a repeated replica prints a Scala map of an assignment.",
        {"1.0": "Map", "2.8": "HashMap", "3.9": ""},
        _SEEN,
    ),
    "placement.mentions-cordoned-directories": (
        "A placement that cannot be made also blames cordoned log directories (KIP-1066).",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "coordinator.answers-have-messages": (
        "FindCoordinator's error_message up to v3 is the error's own text, NONE on success; "
        "without the quirk it is null.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "coordinator.unknown-type-is-answered": (
        "FindCoordinator of an unknown key type answers INVALID_REQUEST; without the quirk the "
        "connection is closed.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "coordinator.knows-share-groups": (
        "FindCoordinator's key type 2 is checked as group, topic id and partition.",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "configs.cluster-keeps-min-isr": (
        "min.insync.replicas is kept as a dynamic default of all brokers (KIP-966's "
        "eligible leader replicas need it there).",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "configs.newer-formats-wait": (
        "A changed message.format.version above inter.broker.protocol.version does not hold.",
        {"1.0": True, "3.9": False},
        "TopicConfigHandler.excludedConfigs at 1.0.2, 2.8.2; observed on 1.0.2",
    ),
    "quotas.answers-wait": (
        "An answer above its client's quota is kept back; without the quirk it is sent and the "
        "connection is not read meanwhile (KIP-219).",
        {"1.0": True, "2.2": False},
        "KIP-219",
    ),
    "quotas.rates-keep-overlapping-samples": (
        "A sample of a rate counts until its last event is too old; before, until its first is.",
        {"1.0": False, "3.9": True},
        "SampledStat.purgeObsoleteSamples at 2.8.2, 3.9.2; its class of five releases was walked",
    ),
    "quotas.bound-controller-mutations": (
        "Clients create, grow and delete so many partitions in a second as their quota says.",
        {"1.0": False, "2.8": True},
        "KIP-599",
    ),
    "quotas.exempt-epoch-requests": (
        "The time of OffsetForLeaderEpoch, which only brokers asked, is no client's.",
        {"1.0": True, "2.2": False},
        "KafkaApis.handleOffsetForLeaderEpochRequest at 1.0.2, 2.2.1",
    ),
    "quotas.bound-fetches": (
        "A fetch asks for no more than its client may have in ten seconds.",
        {"1.0": False, "2.8": True},
        "KafkaApis.handleFetchRequest at 2.2.1, 2.8.2",
    ),
    "configs.rates-without-definition": (
        "How a throttled rate is shown while it is set, which is no broker setting but a dynamic "
        "one: (its value is shown, it is read-only).",
        {"1.0": (False, True), "2.8": (True, True), "4.3": (True, False)},
        _SEEN,
    ),
    "configs.log-levels": (
        "The levels of a logger, in the order in which a release lists them to who names another: "
        "a Java hash set's, later the alphabet's.",
        {"1.0": _HASHED_LEVELS, "3.9": _LEVELS},
        "observed on 2.8.2, 3.9.2, 4.3.1; the older two have no such request",
    ),
    "configs.metrics-have-defaults": (
        "A client metrics subscription that nobody made shows its defaults.",
        {"1.0": False, "4.3": True},
        _SEEN,
    ),
    "configs.unread-metrics-interval-is-no-known-error": (
        "An interval of a client metrics subscription that is no number is an unknown error.",
        {"1.0": False, "3.9": True, "4.3": False},
        _SEEN,
    ),
    "configs.success-has-empty-message": (
        "DescribeConfigs and UNKNOWN_TOPIC_OR_PARTITION in it carry the empty text, not null.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "configs.v0-never-says-default": (
        "DescribeConfigs v0 says is_default=false of everything.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "configs.unknown-topic-is-refused": (
        "DescribeConfigs of a topic that does not exist is an error; without the quirk the "
        "defaults of any topic are shown.",
        {"1.0": False, "2.2": True},
        _SEEN,
    ),
    "configs.no-keys-means-all": (
        "An empty list of keys asks for all configs; without the quirk for none.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "configs.all-brokers-have-a-name": (
        "The empty broker name stands for the dynamic defaults of all brokers (KIP-226).",
        {"1.0": False, "2.2": True},
        _SEEN,
    ),
    "configs.repeated-resource-is-answered-twice": (
        "A resource that comes twice in DescribeConfigs is answered twice; without the "
        "quirk its last entry counts.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "configs.removed-defaults-linger": (
        "A broker whose dynamic setting is taken back goes on by it until another is set.",
        {"1.0": False, "2.2": True, "2.8": False},
        "DynamicBrokerConfig.updatedConfigs@2.2.1, 2.8.2; observed on 2.2.1, 2.8.2, 3.9.2, 4.3.1",
    ),
    "configs.wrong-id-prints-as": (
        "What a broker id that is not this broker's is called in a refusal.",
        {"1.0": "{0}", "2.2": "ConfigResource(type=BROKER, name='{0}').name", "2.8": "{0}"},
        _SEEN,
    ),
    "configs.wrong-logger-id-prints-as": (
        "What a broker id that is not this broker's is called where its loggers are altered; {1} "
        "is its own.",
        {"1.0": "{0}", "3.9": "{1}", "4.3": "{0}"},
        "RuntimeLoggerManager@3.9.2, 4.3.1; asked of both",
    ),
    "configs.resource-types": (
        "The resource types DescribeConfigs and AlterConfigs know, by code.",
        {
            "1.0": {0: "UNKNOWN", 1: "ANY", 2: "TOPIC", 3: "GROUP", 4: "BROKER"},
            "2.2": {0: "UNKNOWN", 2: "TOPIC", 4: "BROKER"},
            "2.8": {0: "UNKNOWN", 2: "TOPIC", 4: "BROKER", 8: "BROKER_LOGGER"},
            "3.9": {
                0: "UNKNOWN",
                2: "TOPIC",
                4: "BROKER",
                8: "BROKER_LOGGER",
                16: "CLIENT_METRICS",
            },
            "4.3": {
                0: "UNKNOWN",
                2: "TOPIC",
                4: "BROKER",
                8: "BROKER_LOGGER",
                16: "CLIENT_METRICS",
                32: "GROUP",
            },
        },
        _SEEN,
    ),
    "configs.unknown-type-is-echoed": (
        "An unknown resource type is answered as it came, in general words; without the "
        "quirk as type 0, with the type's name.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "configs.negative-type-hangs-up": (
        "DescribeConfigs and AlterConfigs close the connection on a type of resource below zero.",
        {"1.0": True, "2.2": False},
        _SEEN,
    ),
    "alter.missing-topic-has-a-code": (
        "AlterConfigs of a topic that does not exist answers UNKNOWN_TOPIC_OR_PARTITION; "
        "without the quirk UNKNOWN_SERVER_ERROR.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "alter.brokers-can-be-altered": (
        "AlterConfigs takes broker resources (KIP-226).",
        {"1.0": False, "2.2": True},
        _SEEN,
    ),
    "alter.null-value-hangs-up": (
        "A null value in AlterConfigs closes the connection.",
        {"1.0": False, "2.2": True, "2.8": False},
        _SEEN,
    ),
    "alter.null-value-refuses-all": (
        "A null value in AlterConfigs is an error of every resource of the request.",
        {"1.0": False, "2.8": True, "3.9": False},
        _SEEN,
    ),
    "alter.unknown-type-refuses-all": (
        "A type of resource that AlterConfigs does not know is an error of every resource.",
        {"1.0": True, "3.9": False},
        _SEEN,
    ),
    "zookeeper.refused-bounds-and-word": (
        "Whether a path may not have the first and the last of the code units in a refused range "
        "(1) or may (0), and what the client says of one that it may not.",
        {"1.0": (0, "invalid charater"), "2.2": (1, "invalid character")},
        "PathUtils.validatePath of ZooKeeper 3.4.10, 3.4.13; asked of 1.0.2, 2.2.1, 2.8.2",
    ),
    "alter.repeated-resource-never-answered": (
        "AlterConfigs with one resource twice is never answered.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "alter.sets-print-as": (
        "How a refusal prints the set of configs that cannot be changed.",
        {"1.0": "", "2.2": "Set({0})", "4.3": "[{0}]"},
        _SEEN,
    ),
    "alter.hash-sets-print-as": (
        "The same for settings that belong to a listener, which Scala keeps in another set.",
        {"1.0": "", "2.2": "Set({0})", "2.8": "HashSet({0})", "4.3": "[{0}]"},
        _SEEN,
    ),
    "alter.resources-print-as": (
        "How a refusal prints the resource whose config value is bad.",
        {
            "1.0": "Resource(type={0}, name='{1}'}}",
            "2.2": "ConfigResource(type={0}, name='{1}')",
            "3.9": "",
        },
        _SEEN,
    ),
    "topics.not-controller-message": (
        "What CreateTopics says beside NOT_CONTROLLER.",
        {"1.0": None, "2.8": "", "3.9": None},
        "observed on three nodes of 2.2.1 and 2.8.2",
    ),
    "topics.unknown-errors-have-a-message": (
        "UNKNOWN_SERVER_ERROR in an answer about topics carries what went wrong.",
        {"1.0": True, "2.8": False},
        "observed on 1.0.2, 2.2.1, 2.8.2",
    ),
    "topics.auto-creation-needs-all-racks": (
        "Where some brokers have a rack and some have none, auto-creation fails; without the "
        "quirk it ignores racks (TOPIC-03).",
        {"1.0": False, "2.8": True, "3.9": False},
        "observed on three nodes of 2.2.1 and 2.8.2",
    ),
    "metadata.internal-topics-are-always-made": (
        "Metadata makes a coordinator's topic when it is asked for, auto-creation or not.",
        {"1.0": True, "2.8": False},
        _SEEN,
    ),
    "topics.disabled-deletion-times-out": (
        "With delete.topic.enable=false a deletion is waited for in vain; without the quirk it is "
        "refused at once.",
        {"1.0": True, "2.2": False},
        _SEEN,
    ),
    "configs.topic-default-means-no-override": (
        "is_default of a topic config is false only where the topic overrides it; without the "
        "quirk also where the broker's settings do.",
        {"1.0": True, "2.2": False},
        _SEEN,
    ),
    "acls.unknown-filters-close": (
        "A DescribeAcls or DeleteAcls with an UNKNOWN element in a filter cannot be parsed.",
        {"1.0": False, "2.8": True},
        "observed on all five releases",
    ),
    "acls.creations-that-close": (
        "The values with which a CreateAcls cannot be parsed: UNKNOWN (0) since 2.8; before, ANY "
        "(1) and the pattern type MATCH (2), which only filters have.",
        {
            "1.0": {"operation": (1,), "permission_type": (1,)},
            "2.2": {
                "resource_type": (1,),
                "resource_pattern_type": (1, 2),
                "operation": (1,),
                "permission_type": (1,),
            },
            "2.8": {
                "resource_type": (0,),
                "resource_pattern_type": (0,),
                "operation": (0,),
                "permission_type": (0,),
            },
        },
        _SEEN,
    ),
    "acls.refusal": (
        "What CreateAcls and DeleteAcls say where there is no authorizer.",
        {
            "1.0": "No Authorizer is configured on the broker.",
            "3.9": "No Authorizer is configured.",
        },
        _SEEN,
    ),
    "quotas.unknown-entity": (
        "What DescribeClientQuotas says of an entity type it does not know.",
        {
            "1.0": "",
            "2.8": "Custom entity type '{0}' not supported",
            "3.9": "Unsupported entity type {0}",
        },
        _SEEN,
    ),
}
