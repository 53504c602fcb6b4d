"""Commits and fetches of different versions mean the same offsets, each in its own form.

Sources: schema OffsetFetch; KIP-320 (leader epochs), KIP-709 (several groups).
"""

from touchstone.harness.model.claim import claim, every
from touchstone.harness.model.expect import all_of, answer
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.offsets import CLUSTER, CODE, OFFSET, a_group, commit, fetch, fetched


@claim(
    "offsets.every-version-fetches-what-was-committed",
    evidence=("OFFS-02", "KIP-709", "KIP-320"),
    api="OffsetFetch",
    versions=every("OffsetFetch"),
    where=lambda row: row["version"] > 0,
    config=CLUSTER,
)
def test_every_version_fetches_what_was_committed(case):
    """OffsetFetch returns an offset that OffsetCommit 2 stored in each of its versions."""
    topic, group, steps = a_group(case)
    fields = {"committed_metadata": "m"}
    return case.scenario(
        steps,
        commit(group, topic, 7, fields=fields, name="sent"),
        fetch(group, topic, 0, 1, version=case.version, name="ask"),
        expect=all_of(
            answer("ask", fetched(OFFSET, case.version)).is_(7),
            answer("ask", fetched(CODE, case.version)).is_(ErrorCode.NONE),
        ),
    )
