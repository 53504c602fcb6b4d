"""Work that is due and fails is a line in the log, never a dead broker (found by fuzzing)."""

from __future__ import annotations

import logging

from touchstone.reference_impl.io.server import build


def test_due_work_that_fails_does_not_end_the_loop(monkeypatch, caplog):
    cluster = build()
    broker = cluster.brokers[0]

    def fails(now):
        raise KeyError("a member that is gone")
        yield

    monkeypatch.setattr(broker.purgatory, "expire", fails)
    try:
        with caplog.at_level(logging.ERROR, "touchstone.broker"):
            assert (broker.tick(0), len(caplog.records)) == ([], 1)
    finally:
        cluster.server._shut()
