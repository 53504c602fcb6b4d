"""Where releases differ in what an authorizer allows: one row each.

A row is the sentence, the value from each release on that changed it, and where it was seen; how it
is read stands in `releases.py`.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows

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
}
