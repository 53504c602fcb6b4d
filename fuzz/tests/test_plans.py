"""Plans name campaigns that exist; a name is a campaign's or a plan's."""

from __future__ import annotations

import pytest

from touchstone.fuzz.campaign import BadCampaign, campaigns
from touchstone.fuzz.plans import chosen, load, plans


def test_the_plans_load():
    assert list(plans()) == ["nightly", "smoke", "weekly"]


@pytest.mark.parametrize(("name", "seconds"), [("smoke", 30), ("nightly", 600), ("weekly", 3600)])
def test_a_plan_takes_as_long_as_it_promises(name, seconds):
    assert sum(plans()[name].seconds.values()) == seconds


def test_no_campaign_has_the_name_of_a_plan():
    assert not campaigns().keys() & plans().keys()


def test_a_plan_gives_its_campaigns_their_seconds():
    assert [(one.name, seconds) for one, seconds in chosen(("smoke", "valid"))] == [
        *plans()["smoke"].seconds.items(),
        ("valid", None),
    ]


def test_without_a_name_all_campaigns_run():
    assert [(one.name, seconds) for one, seconds in chosen(())] == [
        (name, None) for name in campaigns()
    ]


def test_a_plan_of_a_campaign_that_does_not_exist_is_refused(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text('sentence = "s"\n[seconds]\nno_such = 3\n')
    with pytest.raises(BadCampaign, match=r"bad.toml.*no_such"):
        load(path)
