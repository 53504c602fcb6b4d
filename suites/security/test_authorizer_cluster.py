"""What it takes to ask of the cluster itself, and to change it.

Only claimed of releases with bearer tokens: ACLs on the cluster are everybody's, so each case needs
users of its own.

Sources: KafkaApis and ControllerApis at 2.2.1 to 4.3.1; KIP-11, KIP-140, KIP-455, KIP-546, KIP-554.
"""

from touchstone.harness.model.claim import claim, every, only
from touchstone.harness.model.expect import all_of, answer
from touchstone.harness.model.scenario import Ask
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.rights import ALLOWED, DENIED, WITHOUT, asked, rights, said
from touchstone.suites.kit.security import (
    ALTER,
    ALTER_CONFIGS,
    CLUSTER,
    CLUSTER_NAME,
    DESCRIBE,
    DESCRIBE_CONFIGS,
    READ,
    TOPIC,
    acl,
    acl_filter,
    authorizer,
)

REFUSED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@claim(
    "authorizer.describe-acls-needs-describe",
    evidence=("KIP-11", "observed on 2.2.1", "observed on 4.3.1"),
    api="DescribeAcls",
    releases="2.2+",
    versions=only("DescribeAcls", 1),
    switches=("cluster-unguarded",),
)
def test_describe_acls_needs_describe(case):
    """DescribeAcls answers CLUSTER_AUTHORIZATION_FAILED to whoever may not DESCRIBE the
    cluster."""
    body = acl_filter(TOPIC, case.topic())
    return case.scenario(
        rights(case, CLUSTER, CLUSTER_NAME, DESCRIBE),
        asked(lambda who: Ask("DescribeAcls", case.version, body, **who)),
        expect=said("error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.create-acls-needs-alter",
    evidence=("KIP-11", "observed on 2.2.1", "observed on 4.3.1"),
    api="CreateAcls",
    releases="2.2+",
    versions=only("CreateAcls", 1),
)
def test_create_acls_needs_alter(case):
    """CreateAcls answers CLUSTER_AUTHORIZATION_FAILED to whoever may not ALTER the cluster."""
    body = {"creations": [acl(TOPIC, case.topic(), READ, "User:nobody")]}
    return case.scenario(
        rights(case, CLUSTER, CLUSTER_NAME, ALTER),
        asked(lambda who: Ask("CreateAcls", case.version, body, **who)),
        expect=said("results[0].error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.delete-acls-needs-alter",
    evidence=("KIP-11", "observed on 2.2.1", "observed on 4.3.1"),
    api="DeleteAcls",
    releases="2.2+",
    versions=only("DeleteAcls", 1),
)
def test_delete_acls_needs_alter(case):
    """DeleteAcls answers CLUSTER_AUTHORIZATION_FAILED to whoever may not ALTER the cluster."""
    body = {"filters": [acl_filter(TOPIC, case.topic())]}
    return case.scenario(
        rights(case, CLUSTER, CLUSTER_NAME, ALTER),
        asked(lambda who: Ask("DeleteAcls", case.version, body, **who)),
        expect=said("filter_results[0].error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.list-reassignments-needs-describe",
    evidence=("observed on 2.8.2", "observed on 4.3.1"),
    api="ListPartitionReassignments",
    releases="2.2+",
    versions=every("ListPartitionReassignments"),
)
def test_list_reassignments_needs_describe(case):
    """ListPartitionReassignments answers CLUSTER_AUTHORIZATION_FAILED to whoever may not
    DESCRIBE the cluster."""
    body = {"timeout_ms": 5000, "topics": None}
    return case.scenario(
        rights(case, CLUSTER, CLUSTER_NAME, DESCRIBE),
        asked(lambda who: Ask("ListPartitionReassignments", case.version, body, **who)),
        expect=said("error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.alter-reassignments-needs-alter",
    evidence=("observed on 2.8.2", "observed on 4.3.1"),
    api="AlterPartitionReassignments",
    releases="2.2+",
    versions=every("AlterPartitionReassignments"),
)
def test_alter_reassignments_needs_alter(case):
    """AlterPartitionReassignments answers CLUSTER_AUTHORIZATION_FAILED to whoever may not ALTER
    the cluster."""
    body = {"timeout_ms": 5000, "topics": []}
    return case.scenario(
        rights(case, CLUSTER, CLUSTER_NAME, ALTER),
        asked(lambda who: Ask("AlterPartitionReassignments", case.version, body, **who)),
        expect=said("error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.describe-quotas-needs-describe-configs",
    evidence=("KIP-546", "observed on 2.8.2", "observed on 4.3.1"),
    api="DescribeClientQuotas",
    releases="2.2+",
    versions=every("DescribeClientQuotas"),
)
def test_describe_quotas_needs_describe_configs(case):
    """DescribeClientQuotas answers CLUSTER_AUTHORIZATION_FAILED to whoever may not do
    DESCRIBE_CONFIGS on the cluster."""
    body = {"components": [], "strict": False}
    return case.scenario(
        rights(case, CLUSTER, CLUSTER_NAME, DESCRIBE_CONFIGS),
        asked(lambda who: Ask("DescribeClientQuotas", case.version, body, **who)),
        expect=said("error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.alter-quotas-needs-alter-configs",
    evidence=("KIP-546", "observed on 2.8.2", "observed on 4.3.1"),
    api="AlterClientQuotas",
    releases="2.2+",
    versions=every("AlterClientQuotas"),
)
def test_alter_quotas_needs_alter_configs(case):
    """AlterClientQuotas answers CLUSTER_AUTHORIZATION_FAILED to whoever may not do
    ALTER_CONFIGS on the cluster."""
    entity = [{"entity_type": "user", "entity_name": "somebody"}]
    ops = [{"key": "producer_byte_rate", "value": 1000.0, "remove": False}]
    entry = {"entity": entity, "ops": ops}
    body = {"entries": [entry], "validate_only": True}
    return case.scenario(
        rights(case, CLUSTER, CLUSTER_NAME, ALTER_CONFIGS),
        asked(lambda who: Ask("AlterClientQuotas", case.version, body, **who)),
        expect=said("entries[0].error_code", REFUSED),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.describe-scram-needs-describe",
    evidence=("KIP-554", "observed on 2.8.2", "observed on 4.3.1"),
    api="DescribeUserScramCredentials",
    releases="2.2+",
    versions=every("DescribeUserScramCredentials"),
)
def test_describe_scram_needs_describe(case):
    """DescribeUserScramCredentials answers CLUSTER_AUTHORIZATION_FAILED to whoever may not
    DESCRIBE the cluster."""
    body = {"users": [{"name": case.topic("user")}]}
    return case.scenario(
        rights(case, CLUSTER, CLUSTER_NAME, DESCRIBE),
        asked(lambda who: Ask("DescribeUserScramCredentials", case.version, body, **who)),
        expect=all_of(
            answer(WITHOUT, "error_code").is_(REFUSED),
            answer(DENIED, "error_code").is_(REFUSED),
            answer(ALLOWED, "results[0].error_code").is_(ErrorCode.RESOURCE_NOT_FOUND),
        ),
        config=authorizer(case.release),
    )


@claim(
    "authorizer.alter-scram-needs-alter",
    evidence=("KIP-554", "observed on 2.8.2", "observed on 4.3.1"),
    api="AlterUserScramCredentials",
    releases="2.2+",
    versions=every("AlterUserScramCredentials"),
)
def test_alter_scram_needs_alter(case):
    """AlterUserScramCredentials answers CLUSTER_AUTHORIZATION_FAILED to whoever may not ALTER
    the cluster."""
    body = {"deletions": [{"name": case.topic("user"), "mechanism": 1}], "upsertions": []}
    return case.scenario(
        rights(case, CLUSTER, CLUSTER_NAME, ALTER),
        asked(lambda who: Ask("AlterUserScramCredentials", case.version, body, **who)),
        expect=said("results[0].error_code", REFUSED, ErrorCode.RESOURCE_NOT_FOUND),
        config=authorizer(case.release),
    )
