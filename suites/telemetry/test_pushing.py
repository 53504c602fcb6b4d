"""PushTelemetry: a client sends metrics under its subscription, at its interval.

Sources: KIP-714; ClientMetricsManager.processPushTelemetryRequest, validatePushRequest and
ClientMetricsInstance at 3.9.2 and 4.3.1; observed on both.
"""

import gzip

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.scenario import Ref, Until
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.telemetry import (
    ANYWHERE,
    GZIP,
    ID,
    INTERVAL,
    LONG_MS,
    MAX_BYTES,
    NOBODY,
    NONE,
    NUMBER,
    RESERVED,
    SHORTEST_MS,
    WHERE,
    ZSTD,
    again,
    ask,
    asked_until,
    is_,
    matching,
    own,
    push,
    requested,
    subscribed,
)

SOON, GOOD = ErrorCode.THROTTLING_QUOTA_EXCEEDED, ErrorCode.NONE


def a_client(case, *, every_ms=LONG_MS):
    """Subscribe, and ask as a client of the case's own."""
    return [
        subscribed(case.topic("metrics"), "a.", matching(), every_ms=every_ms),
        asked_until(INTERVAL, every_ms, client=own()),
    ]


def sent(name="pushed", **how):
    return push(client=own(), name=name, **how)


def in_time(name, **how):
    """Push as soon as the interval is over."""
    return Until(sent(name, **how), "error_code", "!=", SOON)


@claim("telemetry.who-asked-may-push", evidence=("KIP-714",), **WHERE)
def test_who_asked_may_push(case):
    """PushTelemetry under the subscription id that the client was told is accepted once without
    waiting; a second one within the interval answers THROTTLING_QUOTA_EXCEEDED, and so does
    GetTelemetrySubscriptions."""
    return case.scenario(
        a_client(case),
        sent("first"),
        sent("second"),
        again(client=own()),
        expect=all_of(is_("first", GOOD), is_("second", SOON), is_("again", SOON)),
    )


@claim("telemetry.a-client-pushes-at-its-interval", evidence=("KIP-714",), **WHERE)
def test_a_client_pushes_at_its_interval(case):
    """PushTelemetry is accepted again once the client's interval is over."""
    return case.scenario(
        a_client(case, every_ms=SHORTEST_MS),
        sent("first"),
        in_time("second"),
        expect=all_of(is_("first", GOOD), is_("second", GOOD)),
    )


@claim("telemetry.no-instance-pushes-nothing", evidence=("KIP-714",), **WHERE)
def test_no_instance_pushes_nothing(case):
    """PushTelemetry with a client instance id of zeros, or a reserved one, answers
    INVALID_REQUEST."""
    return case.scenario(
        a_client(case),
        sent("nobody", who=NOBODY),
        sent("reserved", who=RESERVED),
        expect=all_of(
            is_("nobody", ErrorCode.INVALID_REQUEST), is_("reserved", ErrorCode.INVALID_REQUEST)
        ),
    )


@claim("telemetry.a-push-is-of-its-subscription", evidence=("KIP-714",), **WHERE)
def test_a_push_is_of_its_subscription(case):
    """PushTelemetry with another subscription id than the client's answers UNKNOWN_SUBSCRIPTION_ID;
    since 4.x the client may then ask before its interval is over."""
    return case.scenario(
        a_client(case),
        sent("pushed", number=Ref("asked", NUMBER, plus=1)),
        again(client=own()),
        expect=all_of(
            is_("pushed", ErrorCode.UNKNOWN_SUBSCRIPTION_ID),
            by_release({"3.9": is_("again", SOON), "4.3": is_("again", GOOD)}),
        ),
    )


@claim("telemetry.a-push-after-a-change-is-refused", evidence=("KIP-714",), **WHERE)
def test_a_push_after_a_change_is_refused(case):
    """PushTelemetry under the subscription id of before a change answers UNKNOWN_SUBSCRIPTION_ID,
    and the client, which may ask at once since 4.x, gets the new one; a client that asks after the
    change pushes under it."""
    return case.scenario(
        a_client(case),
        subscribed(case.topic("metrics"), "b.", matching(), label="changed"),
        asked_until("requested_metrics[0]", "b.", client=own(), name="look"),
        sent("old"),
        again(client=own()),
        sent("new", asked="look"),
        expect=all_of(
            is_("old", ErrorCode.UNKNOWN_SUBSCRIPTION_ID),
            by_release({"3.9": is_("again", SOON), "4.3": requested("again", ["b."])}),
            is_("new", GOOD),
        ),
    )


@claim("telemetry.who-never-asked-may-not-push", evidence=("KIP-714",), **WHERE)
def test_who_never_asked_may_not_push(case):
    """PushTelemetry of a client instance that the broker does not know is held against its
    subscriptions: another subscription id answers UNKNOWN_SUBSCRIPTION_ID."""
    return case.scenario(
        a_client(case),
        sent("pushed", who=b"touchstone-tests", number=1),
        expect=is_("pushed", ErrorCode.UNKNOWN_SUBSCRIPTION_ID),
    )


@claim("telemetry.compressions-are-known", evidence=("KIP-714",), **WHERE)
def test_compressions_are_known(case):
    """PushTelemetry with a compression type that does not exist answers
    UNSUPPORTED_COMPRESSION_TYPE; one that does is accepted, none among them. Since 4.x who was
    refused for it may ask before its interval is over."""
    metrics = {NONE: b"m", GZIP: gzip.compress(b"m", mtime=0)}
    steps, wanted = [], []
    for kind in (-1, NONE, GZIP, ZSTD, ZSTD + 1):
        who, back = f"client {kind}", f"again {kind}"
        steps += [
            ask(client=own(), name=who),
            sent(f"type {kind}", asked=who, compression=kind, metrics=metrics.get(kind, b"")),
            again(who, client=own(), name=back),
        ]
        exists = NONE <= kind <= ZSTD
        code = GOOD if exists else ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        soon = by_release({"3.9": is_(back, SOON), "4.3": is_(back, SOON if exists else GOOD)})
        wanted += [is_(f"type {kind}", code), soon]
    return case.scenario(a_client(case), *steps, expect=all_of(*wanted))


def limit(case, most):
    """Two clients push as much as they were told, and a byte more."""
    return [
        a_client(case),
        ask(client=own(), name="other"),
        sent("as large", metrics=bytes(most)),
        sent("larger", asked="other", metrics=bytes(most + 1)),
    ], all_of(
        answer("asked", "telemetry_max_bytes").is_(most),
        is_("as large", GOOD),
        is_("larger", ErrorCode.TELEMETRY_TOO_LARGE),
    )


@claim("telemetry.a-push-may-be-as-large-as-told", evidence=("KIP-714",), **WHERE)
def test_a_push_may_be_as_large_as_told(case):
    """PushTelemetry with as many bytes as the client was told is accepted; with one more it answers
    TELEMETRY_TOO_LARGE."""
    steps, wanted = limit(case, MAX_BYTES)
    return case.scenario(*steps, expect=wanted)


@claim("telemetry.the-limit-is-a-setting", evidence=("KIP-714",),
       config={"telemetry.max.bytes": 1000}, **ANYWHERE)  # fmt: skip
def test_the_limit_is_a_setting(case):
    """GetTelemetrySubscriptions tells telemetry.max.bytes, and PushTelemetry with one byte more
    answers TELEMETRY_TOO_LARGE."""
    steps, wanted = limit(case, 1000)
    return case.scenario(*steps, expect=wanted)


@claim("telemetry.a-last-push-does-not-wait", evidence=("KIP-714",), **WHERE)
def test_a_last_push_does_not_wait(case):
    """PushTelemetry that says the client is terminating is accepted within the interval, once: what
    the client pushes after it answers INVALID_REQUEST."""
    return case.scenario(
        a_client(case),
        sent("first"),
        sent("last", ends=True),
        sent("after", ends=True),
        sent("once more"),
        expect=all_of(
            is_("first", GOOD),
            is_("last", GOOD),
            is_("after", ErrorCode.INVALID_REQUEST),
            is_("once more", ErrorCode.INVALID_REQUEST),
        ),
    )


@claim("telemetry.one-fault-goes-before-another", evidence=("observed on 3.9.2 and 4.3.1",),
       level="OBSERVED", **WHERE)  # fmt: skip
def test_one_fault_goes_before_another(case):
    """PushTelemetry with two faults tells of the interval before the subscription id, of that
    before the compression type, and of that before the size."""
    return case.scenario(
        a_client(case),
        ask(client=own(), name="one"),
        ask(client=own(), name="two"),
        sent("first"),
        sent("time before id", number=Ref("asked", NUMBER, plus=1)),
        sent("id before type", asked="one", number=Ref("one", NUMBER, plus=1), compression=9),
        sent("type before size", asked="two", compression=9, metrics=bytes(MAX_BYTES + 1)),
        expect=all_of(
            is_("time before id", SOON),
            is_("id before type", ErrorCode.UNKNOWN_SUBSCRIPTION_ID),
            is_("type before size", ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        ),
    )


@claim("telemetry.instances-are-apart", evidence=("KIP-714",), **WHERE)
def test_instances_are_apart(case):
    """PushTelemetry of one client instance leaves another one's interval alone, also on one
    connection, and no subscription id is another instance's."""
    return case.scenario(
        a_client(case),
        ask(client=own(), name="other"),
        sent("first"),
        sent("of the other", asked="other"),
        sent("mixed", who=Ref("other", ID), number=Ref("asked", NUMBER), ends=True),
        expect=all_of(
            is_("first", GOOD),
            is_("of the other", GOOD),
            is_("mixed", ErrorCode.UNKNOWN_SUBSCRIPTION_ID),
        ),
    )
