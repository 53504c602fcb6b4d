"""Unstable versions: listed and served where the setting says so, on the newest release alone."""

from dataclasses import replace

import pytest

from touchstone.reference_impl.broker.assembly import Assembly
from touchstone.reference_impl.broker.personas import PERSONAS, RELEASES, unstable
from touchstone.reference_impl.tests.broker.one_broker import OneBroker
from touchstone.reference_impl.wire.apis import API

NEWEST = RELEASES[-1]
ON = {"unstable.api.versions.enable": "true"}
INIT = {
    "transactional_id": "t",
    "transaction_timeout_ms": 60_000,
    "enable2_pc": False,
    "keep_prepared_txn": False,
}


def listed(config):
    return Assembly.of(NEWEST, config, ()).persona.broker_listener


def test_init_producer_id_is_all_that_the_newest_adds_to_what_it_lists():
    """Seen on a 4.3.1 with the setting."""
    usual = PERSONAS[NEWEST].broker_listener
    begun = listed(ON).keys() - usual.keys()  # keys of no release yet
    assert {key: span for key, span in listed(ON).items() if key not in begun} == {
        **usual,
        22: (0, 6),
    }
    assert listed({"unstable.api.versions.enable": "false"}) == listed({}) == usual


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"enable2_pc": True}, 53),
        ({"keep_prepared_txn": True}, 35),
        ({"enable2_pc": True, "keep_prepared_txn": True}, 53),
        ({"enable2_pc": True, "transactional_id": None}, 0),
        ({"enable2_pc": True, "transactional_id": ""}, 42),
        ({"producer_id": 5, "enable2_pc": True}, 42),
        ({"enable2_pc": True, "transaction_timeout_ms": 2**31 - 1}, 53),
    ],
)
def test_two_phase_commit_is_refused_in_the_order_of_4_3_1(asked, code):
    answer = OneBroker(NEWEST, **ON).ask("InitProducerId", 6, {**INIT, **asked})
    assert answer["error_code"] == code
    ongoing = answer["ongoing_txn_producer_id"], answer["ongoing_txn_producer_epoch"]
    assert ongoing == (-1, -1)


def test_an_api_that_no_release_lists_is_unstable(monkeypatch):
    new = replace(API[17], key=99)
    monkeypatch.setattr(unstable, "API", {**API, 99: new})
    assert unstable.with_unstable(PERSONAS[NEWEST]).broker_listener[99] == (0, 1)


def test_an_older_release_refuses_the_setting_in_one_line():
    with pytest.raises(ValueError, match=r"unstable.api.versions.enable=true .* not 3.9"):
        Assembly.of("3.9", ON, ())
