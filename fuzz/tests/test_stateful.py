"""The tables as Hypothesis models: they hold on the reference broker, planted defects shrink."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from touchstone.fuzz.machines import MACHINES
from touchstone.fuzz.machines.stateful import model_of
from touchstone.fuzz.tests.test_machines import EVERYWHERE, RANGES, by_name, playing

FEW = settings(
    max_examples=6,
    stateful_step_count=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def player():
    with playing() as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("machine", EVERYWHERE, ids=by_name)
def test_the_model_holds_on_the_reference_broker(machine, player):
    run_state_machine_as_test(model_of(machine, player, RANGES, "4.3"), settings=FEW)


@pytest.mark.slow
def test_a_planted_defect_shrinks_to_the_actions_that_show_it():
    machine = MACHINES["idempotent_producer"]
    shrinking = settings(
        FEW, max_examples=40, phases=[Phase.generate, Phase.shrink], print_blob=False
    )
    with playing(switches=["duplicate-appended"]) as made:
        model = model_of(machine, made, RANGES, "4.3")
        # Two steps open the script; then nothing is left but a batch, and the same batch again.
        with pytest.raises(AssertionError, match="step 3, Produce the last batch again"):
            run_state_machine_as_test(model, settings=shrinking)
