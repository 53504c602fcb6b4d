"""From a run that is over to its transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from touchstone.harness.model.transcript import Header, Transcript

if TYPE_CHECKING:
    from touchstone.harness.driver.runner import Run


def finished(
    one: Run, *, target: str, release: str | None = None, seed: int | None = None
) -> Transcript:
    """The transcript of a run that is over."""
    scenario = one.scenario
    header = Header(
        target=target, kind="live", labels=scenario.labels, release=release,
        fingerprint=scenario.fingerprint(), nonce=one.bindings.nonce, seed=seed,
        names=dict(one.bindings.names), times=dict(one.bindings.times),
        clock_ms=one.bindings.clock_ms, brokers=scenario.brokers, scenario=scenario.to_json(),
        translation=one.words.translation.to_json(),
    )  # fmt: skip
    return Transcript(header, tuple(one.events))
