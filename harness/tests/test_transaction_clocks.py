"""A case with transactions of two timeouts wants the coordinator to look between their ends.

Brokers look for what is over every ten seconds unless told otherwise: then the shorter transaction,
by whose end the case knows the time, ends together with the longer one.
"""

from touchstone.harness.model import advertised
from touchstone.harness.model.scenario import asked
from touchstone.harness.run import detection, dry
from touchstone.suites.kit.transactions import ABORTS_EVERY

RELEASE = "4.3"


def timeouts_ms(scenario):
    """The timeouts of a scenario's transactions that end within it."""
    requests = (asked(step) for step in scenario.steps)
    bodies = (one.body for one in requests if getattr(one, "api", None) == "InitProducerId")
    return {body["transaction_timeout_ms"] for body in bodies} - {60_000}


def test_transactions_of_two_timeouts_want_the_interval_of_their_claim():
    clocks = {}
    for claim, function in detection.functions().values():
        if claim.suite == "transactions" and ABORTS_EVERY in dict(claim.shape.config):
            for case in claim.cases(RELEASE, advertised.table(RELEASE))[-1:]:
                if len(timeouts_ms(dry.run(function, case, RELEASE).scenario)) > 1:
                    clocks[claim.id] = ABORTS_EVERY in claim.subject
    assert len(clocks) >= 2
    assert all(clocks.values()), clocks
