"""Where releases differ in what an authorizer allows: one row each.

A row is the sentence, the value from each release on that changed it, and where it was seen; how it
is read stands in `releases.py`.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows
from touchstone.reference_impl.wire.errors import ErrorCode as E

_TRIED = "observed on 1.0.2, 2.2.1, 2.8.2, 4.3.1"
_QUOTED = "Request {request} is not authorized."
_NEEDS = "Request {{request}} needs {} permission."

ROWS: Rows = {
    "acls.authorizer": (
        "The class of the authorizer that comes with a release.",
        {
            "1.0": "kafka.security.auth.SimpleAclAuthorizer",
            "2.8": "kafka.security.authorizer.AclAuthorizer",
            "3.9": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        },
        "1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1 start with it",
    ),
    "acls.topics-are-created-by-name": (
        "A topic is made by whoever may CREATE it; without the quirk only by whoever may CREATE "
        "on the cluster (KIP-277).",
        {"1.0": False, "2.2": True},
        "KafkaApis.handleCreateTopicsRequest at 1.0.2, 2.2.1, 2.8.2, 3.9",
    ),
    "acls.groups-are-listed-one-by-one": (
        "ListGroups shows whoever may not DESCRIBE the cluster the groups that it may describe "
        "(KIP-231); without the quirk it is refused.",
        {"1.0": False, "2.2": True},
        "KafkaApis.handleListGroupsRequest at 1.0.2, 2.2.1, 2.8.2, 3.9",
    ),
    "acls.epochs-are-described": (
        "OffsetForLeaderEpoch is answered to whoever may DESCRIBE the topic (KIP-320); without "
        "the quirk only to brokers.",
        {"1.0": False, "2.2": True},
        "KafkaApis.handleOffsetForLeaderEpochRequest at 1.0.2, 2.2.1, 2.8.2, 3.9",
    ),
    "acls.topic-writers-are-idempotent": (
        "Whoever may WRITE some topic may write idempotently (KIP-679); without the quirk it "
        "takes IDEMPOTENT_WRITE on the cluster, to begin and to produce.",
        {"1.0": False, "2.8": True},
        "KafkaApis.handleInitProducerIdRequest, handleProduceRequest at 1.0.2, 2.2.1, 2.8.2, 3.9",
    ),
    "acls.epoch-of-refused-producers": (
        "The epoch in the answer of an InitProducerId that is not allowed.",
        {"1.0": 0, "2.8": -1},
        "observed on all five releases",
    ),
    "acls.markers-may-be-altered": (
        "WriteTxnMarkers is answered to whoever may ALTER the cluster, beside brokers.",
        {"1.0": False, "3.9": True},
        "KafkaApis.handleWriteTxnMarkersRequest at 1.0.2, 2.2.1, 2.8.2, 3.9",
    ),
    "acls.followers-read-as-well": (
        "A follower's Fetch needs READ on topics beside CLUSTER_ACTION, and without that answers "
        "CLUSTER_AUTHORIZATION_FAILED; without the quirk TOPIC_AUTHORIZATION_FAILED.",
        {"1.0": True, "2.2": False},
        "KafkaApis.handleFetchRequest at 1.0.2, 2.2.1, 2.8.2, 3.9",
    ),
    "acls.types-are-judged-by-example": (
        "Whether some resource of a type may be written is first asked of one by the name of "
        "hardcode; without the quirk allow.everyone.if.no.acl.found is enough.",
        {"1.0": False, "3.9": True},
        "AclAuthorizer.authorizeByResourceType at 2.8.2, Authorizer's at 3.9; observed on 4.3.1",
    ),
    "acls.resource-types": (
        "The types of resources that an ACL can be about.",
        {"1.0": (2, 3, 4, 5), "2.2": (2, 3, 4, 5, 6), "3.9": (2, 3, 4, 5, 6, 7)},
        _TRIED,
    ),
    "acls.newest-operation": (
        "The last operation that an ACL can be about: IDEMPOTENT_WRITE, DESCRIBE_TOKENS (KIP-373), "
        "TWO_PHASE_COMMIT (KIP-939).",
        {"1.0": 12, "3.9": 14, "4.3": 15},
        _TRIED,
    ),
    "acls.elements-come-first": (
        "CreateAcls looks at the elements of an entry before the name of its resource.",
        {"1.0": True, "2.8": False},
        _TRIED,
    ),
    "acls.filters-in-place-of-acls-fail-all": (
        "A CreateAcls one of whose entries has ANY or MATCH, which only filters have, answers "
        "UNKNOWN_SERVER_ERROR for all of them.",
        {"1.0": False, "2.8": True},
        _TRIED,
    ),
    "acls.unknown-element": (
        "What CreateAcls says of an element that means nothing.",
        {
            "1.0": "{value} not a valid {field} name. The valid names are {names}",
            "2.8": "Failed to create ACL",
            "3.9": "Invalid {field} {value}",
        },
        _TRIED,
    ),
    "acls.bad-principal": (
        "What CreateAcls answers for a principal without a colon: its code and its message.",
        {
            "1.0": (
                E.INVALID_REQUEST,
                "expected a string in format principalType:principalName but got {}",
            ),
            "2.8": (E.UNKNOWN_SERVER_ERROR, None),
            "3.9": (
                E.INVALID_REQUEST,
                "Could not parse principal from `{}` (no colon is present separating the "
                "principal type from the principal name)",
            ),
        },
        _TRIED,
    ),
    "acls.names-may-have-slashes": (
        "An ACL can be about a resource with a slash in its name, which ZooKeeper takes for a "
        "path; without the quirk that is UNKNOWN_SERVER_ERROR.",
        {"1.0": True, "2.2": False, "3.9": True},
        _TRIED,
    ),
    "acls.success-message": (
        "The message of a CreateAcls or DescribeAcls that went well.",
        {"1.0": None, "2.8": ""},
        _TRIED,
    ),
    "acls.unknown-filters-are-refused": (
        "A DeleteAcls filter with an element that means nothing is INVALID_REQUEST; without the "
        "quirk it matches nothing.",
        {"1.0": False, "3.9": True},
        _TRIED,
    ),
    "acls.filters-are-a-map": (
        "DeleteAcls goes through its filters in the order of a Scala hash map of their numbers, "
        "and takes filters that can only mean one ACL each, all of them, for ACLs.",
        {"1.0": True, "2.8": False},
        "KafkaApis.handleDeleteAcls at 1.0.2, 2.2.1; observed on both",
    ),
    "acls.text-of-10": (
        "What FindCoordinator says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": None, "2.8": "{code}"},
        "recorded on each release",
    ),
    "acls.text-of-19": (
        "What CreateTopics says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": None, "2.8": "Authorization failed."},
        "recorded on each release",
    ),
    "acls.text-of-20": (
        "What DeleteTopics says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": None, "3.9": "{code}"},
        "recorded on each release",
    ),
    "acls.text-of-29": (
        "What DescribeAcls says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": _QUOTED, "4.3": _NEEDS.format("DESCRIBE")},
        "KafkaApis at 1.0.2; recorded on 2.2.1, 2.8.2, 3.9.2, 4.3.1",
    ),
    "acls.text-of-30": (
        "What CreateAcls says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": _QUOTED, "4.3": _NEEDS.format("ALTER")},
        "KafkaApis at 1.0.2; recorded on 2.2.1, 2.8.2, 3.9.2, 4.3.1",
    ),
    "acls.text-of-31": (
        "What DeleteAcls says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": _QUOTED, "4.3": _NEEDS.format("ALTER")},
        "KafkaApis at 1.0.2; recorded on 2.2.1, 2.8.2, 3.9.2, 4.3.1",
    ),
    "acls.text-of-32": (
        "What DescribeConfigs says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": None, "2.8": "{code}"},
        "recorded on each release",
    ),
    "acls.text-of-33": (
        "What AlterConfigs says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": None, "3.9": "{code}"},
        "recorded on each release",
    ),
    "acls.text-of-37": (
        "What CreatePartitions says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": "The topic authorization is failed.", "3.9": None},
        "recorded on each release",
    ),
    "acls.text-of-44": (
        "What IncrementalAlterConfigs says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": None, "3.9": "{code}"},
        "recorded on each release",
    ),
    "acls.text-of-45": (
        "What AlterPartitionReassignments says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": _QUOTED, "4.3": _NEEDS.format("ALTER")},
        "recorded on 2.8.2, 3.9.2, 4.3.1, which have it",
    ),
    "acls.text-of-46": (
        "What ListPartitionReassignments says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": _QUOTED, "4.3": _NEEDS.format("DESCRIBE")},
        "recorded on 2.8.2, 3.9.2, 4.3.1, which have it",
    ),
    "acls.text-of-49": (
        "What AlterClientQuotas says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": None, "2.8": "{code}"},
        "recorded on 2.8.2, 3.9.2, 4.3.1, which have it",
    ),
    "acls.text-of-51": (
        "What AlterUserScramCredentials says beside the code of a refusal (`refusal_texts.py`).",
        {"1.0": None, "3.9": _QUOTED, "4.3": _NEEDS.format("ALTER")},
        "recorded on 2.8.2, 3.9.2, 4.3.1, which have it",
    ),
}
