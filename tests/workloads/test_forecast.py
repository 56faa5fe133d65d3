"""What would become of something that nobody has submitted, by an engine that is kept and told what changed."""

from collections.abc import Iterator
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.utils.translation import override

import scheduler
from apps.billing import selectors as funds
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.training.choices import KIND as TRAINING
from apps.workloads import services as workloads
from apps.workloads.choices import Status
from apps.workloads.explaining.hypothetical import Forecast
from apps.workloads.forecast import forecast, forecasts
from apps.workloads.offers import quotecard
from apps.workloads.offers.capacity import room
from apps.workloads.offers.picker import package_choices, rough_duration, starts_in
from apps.workloads.offers.quoting import offer, resources_of
from tests.builders import World, actor_of, make_member, make_organisation, platform, signed_in, top_up
from tests.workloads.cards import make_gpu_node, make_gpu_package, scheduled, some_have_ended, submit_on, world_of_cards


@pytest.fixture
def lab(db: None) -> Iterator[World]:
    """Two H200 on one machine and nothing else."""
    with acting(platform()):
        yield world_of_cards(2)


def test_the_forecast_follows_what_starts_and_what_leaves_the_queue(lab: World) -> None:
    both = make_gpu_package(2)
    spec = resources_of(both)
    with acting(lab.actor):
        assert forecast(lab.actor, spec).starts_now
        assert room(lab.actor, [spec, resources_of(make_gpu_package(1))]) == [1, 2]
    first = submit_on(lab.actor, both)
    with acting(lab.actor):
        assert not forecast(lab.actor, spec).starts_now  # it waits before the one that is asked about
        assert forecast(lab.actor, resources_of(lab.package)).starts_now
        workloads.stop(lab.actor, first)
        assert forecast(lab.actor, spec).starts_now


def test_a_new_machine_counts_at_once(lab: World) -> None:
    spec = resources_of(make_gpu_package(4))
    with acting(lab.actor):
        assert forecast(lab.actor, spec).explanation["cause"] == "never_fits"
        make_gpu_node(cards=4, name="gpu-a02")
        assert forecast(lab.actor, spec).starts_now


def test_what_is_kept_for_a_task_is_free_for_what_comes_instead_of_it(lab: World) -> None:
    one, both = make_gpu_package(1), make_gpu_package(2)
    rivals = make_organisation()
    top_up(rivals, 1_000_000)
    some_have_ended(scheduled(submit_on(actor_of(make_member(rivals, "charlie"), rivals), one)))
    waiting = scheduled(submit_on(lab.actor, both))
    assert waiting.explanation["reserved"]
    spec = resources_of(one)
    with acting(lab.actor):
        from_outside = forecast(lab.actor, spec)
    assert not from_outside.starts_now
    assert from_outside.explanation["cause"] == "behind_reservation"
    with acting(lab.actor):
        assert forecasts(lab.actor, [spec], instead_of=waiting.pk)[0].starts_now


def test_what_nobody_knows_the_end_of_keeps_nobody_waiting_beside_free_cards(lab: World) -> None:
    one, both = make_gpu_package(1), make_gpu_package(2)
    scheduled(submit_on(lab.actor, one))
    waiting = scheduled(submit_on(lab.actor, both))
    assert waiting.explanation["reserved"] == []  # nothing is kept, and nothing says that it is
    assert waiting.promised_at is not None  # but its turn is remembered, for when it has waited long
    assert scheduled(submit_on(lab.actor, one)).status == Status.PLACED


def test_the_same_question_is_planned_once_until_something_happens(lab: World) -> None:
    spec = resources_of(make_gpu_package(4))
    asked = scheduler.Engine.ask
    with acting(lab.actor), patch.object(scheduler.Engine, "ask", autospec=True, side_effect=asked) as ask:
        for _time in range(3):
            assert not forecast(lab.actor, spec).starts_now
        assert ask.call_count == 1
        submit_on(lab.actor, lab.package)
        forecast(lab.actor, spec)
        assert ask.call_count == 2


def test_the_picker_says_now_never_and_about_when(lab: World) -> None:
    fits, never = make_gpu_package(1), make_gpu_package(1, model="B300")
    with acting(lab.actor), override("en"):
        choices = {choice.package.pk: choice for choice in package_choices(lab.actor, list(funds.packages(lab.actor)))}
        soon = Forecast(False, {"cause": "devices"}, db_now() + timedelta(hours=2, minutes=5))
        assert [choices[package.pk].starts for package in (fits, never)] == ["now", "never"]
        assert starts_in(soon) == "in about 2 h"
        assert starts_in(Forecast(False, {"cause": "devices"})) == "queues"
        assert [rough_duration(seconds) for seconds in (60, 3000, 100_000, 300_000)] == [
            "1 min",
            "50 min",
            "28 h",
            "3 days",
        ]


def test_the_quote_says_why_it_would_wait_and_what_would_not(lab: World) -> None:
    one, both, large = make_gpu_package(1), make_gpu_package(2, rate_fen=800), make_gpu_package(4)
    scheduled(submit_on(lab.actor, one))
    with acting(lab.actor), override("en"):
        choices = package_choices(lab.actor, list(funds.packages(lab.actor)))
        card = quotecard.card(lab.actor, offer(lab.actor, both, kind=TRAINING), choices)
        hopeless = quotecard.card(lab.actor, offer(lab.actor, large, kind=TRAINING), choices)
    assert card["wait"]["title"] == "gpu-a01 is short of 1 × H200"
    assert "would start" in card["wait"]["text"]
    assert [(row["value"], row["sub"]) for row in card["alternatives"]] == [(str(one.pk), "¥3.60/h · ¥4.40/h less")]
    assert hopeless["wait"] is None
    assert hopeless["problem"]["title"] == "No machine is large enough"
    assert "out of the queue" not in hopeless["problem"]["text"]


def test_the_api_quotes_the_cause_and_the_alternatives(lab: World) -> None:
    one, both = make_gpu_package(1), make_gpu_package(2)
    scheduled(submit_on(lab.actor, one))
    client = signed_in(lab.alice)
    told = client.post("/api/v1/training/quote/", {"package": both.pk}, content_type="application/json").json()
    assert (told["starts_now"], told["cause"], told["alternatives"]) == (False, "devices", [one.pk])
    assert told["title"]
    now = client.post("/api/v1/training/quote/", {"package": one.pk}, content_type="application/json").json()
    assert (now["starts_now"], now["cause"], now["alternatives"]) == (True, "", [])
