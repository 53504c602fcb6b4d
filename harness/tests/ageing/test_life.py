"""A seed decides a whole life, and every life has what a cluster that has lived must have."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.ageing import acts, life
from touchstone.harness.ageing.life import planned
from touchstone.harness.cli.age import client_properties
from touchstone.harness.model import security_settings
from touchstone.harness.model.expect import fits
from touchstone.harness.targets import matrix, settings

RELEASES = [release.name for release in matrix.releases()]
SEEDS = range(30)


@pytest.mark.parametrize("release", RELEASES)
def test_a_seed_is_a_life(release):
    lives = [planned(release, seed) for seed in SEEDS]
    assert lives == [planned(release, seed) for seed in SEEDS]
    assert len({tuple(one.lines()) for one in lives}) == len(SEEDS)


@pytest.mark.parametrize("release", RELEASES)
def test_every_life_has_each_act_that_its_cluster_can_have(release):
    number = matrix.release(release).number
    for each in (planned(release, seed) for seed in SEEDS):
        kinds = {act.kind for act in each.acts} - {"upgrade"}
        known = {
            kind for kind, (since, _) in life.ACTS.items() if number >= matrix.release(since).number
        }
        assert kinds == known - (life.NEEDS_SEVERAL if len(each.ids) == 1 else set())
        assert {act.number for act in each.acts if act.kind in ("restart", "kill")} <= {*each.ids}
        assert each.acts[0].kind == "tenants", "what is expired or moved must be there"


@pytest.mark.parametrize("mechanism", sorted(life.MECHANISMS))
@pytest.mark.parametrize("release", RELEASES)
def test_a_login_that_is_asked_for_is_there_and_has_its_users(release, mechanism):
    since = life.MECHANISMS[mechanism]
    if not fits(release, since):
        done = CliRunner().invoke(main, ["age", f"kafka@{release}", "--login", mechanism, "--dry"])
        assert (done.exit_code, f"{mechanism} is for lives of {since}" in done.output) == (4, True)
        return
    for seed in SEEDS:
        found = planned(release, seed, login=mechanism)
        assert (found.listeners, found.mechanism) == (life.SASL, mechanism)
        assert fits(found.first, since)
        assert found.ids == planned(release, seed).ids
        path = (found.first, *(act.release for act in found.acts if act.kind == "upgrade"))
        assert path == (*life.older(release), release)[-len(path) :]


@pytest.mark.parametrize("release", RELEASES)
def test_upgrades_come_in_the_order_of_releases_and_end_at_the_last(release):
    starts = set()
    for each in (planned(release, seed) for seed in SEEDS):
        path = (each.first, *(act.release for act in each.acts if act.kind == "upgrade"))
        assert path == (*life.older(release), release)[-len(path) :]
        starts.add(each.first)
    assert starts == {*life.older(release), release}, "thirty seeds begin with each"


@pytest.mark.parametrize("release", RELEASES)
def test_nothing_happens_before_the_release_that_knows_it(release):
    for each in (planned(release, seed) for seed in SEEDS):
        now = matrix.release(each.first).number
        for act in each.acts:
            now = matrix.release(act.release).number if act.release else now
            assert act.release or now >= matrix.release(life.ACTS[act.kind][0]).number


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_finds_the_users_of_its_listener(release):
    """1.0 in a file, the others among their settings."""
    secured = next(one for seed in SEEDS if (one := planned(release, seed)).mechanism)
    told = life.login_settings(secured, secured.first)
    first = matrix.release(secured.first)
    modules = settings.login_modules(first, told)
    assert bool(modules) == (first.number < (1, 1))
    assert any("PlainLoginModule" in value for value in (modules, *told.values()))


def test_seeds_differ_in_what_owners_choose():
    lives = [planned("4.3", seed) for seed in SEEDS]
    assert {one.listeners for one in lives} == {*life.LISTENER_SETS}
    assert {len(one.ids) for one in lives} == {*life.SIZES}
    assert {one.mechanism for one in lives} == {"", *life.MECHANISMS}
    assert all(len(planned("4.3", seed, 3).ids) == 3 for seed in SEEDS)


def test_every_act_is_done_by_somebody():
    assert acts.DOES.keys() == {*life.ACTS, "upgrade"}


def test_a_listener_with_a_login_is_told_how_and_its_user_is_told_too():
    lives = [planned("4.3", seed) for seed in SEEDS]
    for one in lives:
        told, words = life.login_settings(one, "4.3"), client_properties(one)
        assert bool(told) == words.startswith("security.protocol=SASL_PLAINTEXT\n")
        assert bool(told) == (one.listeners == life.SASL)
        assert one.mechanism in told.get("sasl.enabled.mechanisms", "")
        assert (f"sasl.mechanism={one.mechanism}\n" in words) == bool(told)
    assert life.login_settings(lives[0], "1.0").keys() <= security_settings.SASL.keys()


def test_the_plan_is_printed_and_nothing_is_started():
    done = CliRunner().invoke(main, ["age", "kafka@2.2", "--seed", "4", "--dry"])
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [*planned("2.2", 4).lines()]
