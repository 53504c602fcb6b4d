"""UpdateFeatures reaches the transaction coordinator: what an EndTxn of version 5 is worth.

As a real 4.3.1 answered when its transaction.version was lowered: 5 bumps at 2 and 1, and is
refused at 0 though ApiVersions lists it, which is why no claim can say so (advertised-is-served).
"""

import pytest

from touchstone.reference_impl.broker.control.features import Features
from touchstone.reference_impl.broker.coordinators.transactions import Transactions
from touchstone.reference_impl.tests.control.node import Peer, brokers

END, NOW = 26, 1_000_000
BODY = {"transactional_id": "t", "producer_id": 1, "producer_epoch": 0, "committed": True}
TOO_OLD, NOT_COORDINATOR = 35, 16


@pytest.mark.parametrize(("level", "code"), [(0, TOO_OLD), (1, NOT_COORDINATOR)])
def test_a_level_of_0_has_no_bumping_end(level, code):
    broker = brokers("4.3")[0]
    broker.room(Features).finalize({"transaction.version": level})
    assert Peer(broker).ask(END, 5, BODY)["error_code"] == code
    assert Peer(broker).ask(END, 4, BODY)["error_code"] == NOT_COORDINATOR


def test_a_coordinator_that_is_there_already_hears_of_it():
    broker = brokers("4.3")[0]
    transactions = broker.room(Transactions)
    assert transactions.coordinator.rules.version == transactions.version == 2
    broker.room(Features).finalize({"transaction.version": 1})
    assert transactions.coordinator.rules.version == 1
