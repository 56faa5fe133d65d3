"""What an organisation with a discount is shown while it chooses: what the quote says and the meter charges."""

from collections.abc import Iterator
from decimal import Decimal
from uuid import uuid4

import pytest
from django.test import Client

from apps.billing import selectors as funds
from apps.billing import services as billing
from apps.billing.arithmetic import net_rate
from apps.billing.models import Hold, MeterSession, Package
from apps.billing.prices.discounts.services import set_discount
from apps.billing.prices.own import prices_of
from apps.clusters.models import Node
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.envs.selectors import environments, past_workloads, totals
from apps.training.choices import KIND as TRAINING
from apps.training.selectors import runs
from apps.workloads.offers.alternatives import would_start_now
from apps.workloads.offers.picker import package_choices
from apps.workloads.offers.quoting import offer
from tests.builders import World, make_package, make_staff, make_world, platform, signed_in
from tests.envs import kit
from tests.training.kit import submit, text, url
from tests.workloads.cards import make_gpu_node, make_gpu_package, scheduled, submit_on

NEW = ("/training/new/", "/environments/new/")
OFF = Decimal("0.1")


@pytest.fixture
def lab(db: None) -> Iterator[World]:
    """Ten per cent off: ¥3.60 is ¥3.24."""
    with acting(platform()):
        world = make_world(balance_fen=1_000_000)
        set_discount(platform(), organisation_id=world.organisation.pk, off=OFF)
        yield world


@pytest.fixture
def alice(lab: World) -> Client:
    return signed_in(lab.alice)


def charged(world: World, package: Package) -> Decimal:
    """Fen an hour, as a meter that is opened now charges."""
    price = funds.current_price(package.pk)
    assert price is not None
    pk = uuid4()
    billing.open_meter(
        session_id=pk,
        organisation_id=world.organisation.pk,
        user_id=world.alice.pk,
        workload_id=uuid4(),
        label="digits",
        price_version_id=price.pk,
        at=db_now(),
    )
    session = MeterSession.objects.select_related("price_version").get(pk=pk)
    return net_rate(session.price_version.rate_fen_per_hour, session.discount_off)


def test_picker_quote_and_meter_have_one_price(lab: World) -> None:
    odd = make_package(rate_fen="123.4567")
    with acting(lab.actor):
        choices = {each.package.pk: each for each in package_choices(lab.actor, list(funds.packages(lab.actor)))}
        quotes = {pk: offer(lab.actor, each.package, kind=TRAINING).quote for pk, each in choices.items()}
    assert {pk: (each.rate_fen_per_hour, each.list_rate_fen_per_hour) for pk, each in choices.items()} == {
        pk: (quote.rate_fen_per_hour, quote.list_rate_fen_per_hour) for pk, quote in quotes.items()
    }
    for package in (lab.package, odd):
        assert choices[package.pk].rate_fen_per_hour == charged(lab, package)


@pytest.mark.parametrize("path", NEW)
def test_the_form_shows_what_is_paid_and_what_is_listed(lab: World, alice: Client, path: str) -> None:
    page = text(alice.get(path))
    listed = '3.24<span class="pl-sub pl-nowrap"><span class="visually-hidden">Listed price </span><s>3.60</s></span>'
    assert listed in page
    assert "listed at ¥3.60/h" in page  # beside the button


@pytest.mark.parametrize("path", NEW)
def test_without_a_discount_there_is_one_price(db: None, path: str) -> None:
    with acting(platform()):
        world = make_world()
    page = text(signed_in(world.alice).get(path))
    assert ">3.60" in page
    assert "<s>" not in page


def test_the_package_without_a_gpu_costs_what_is_paid(lab: World, alice: Client) -> None:
    assert f"{lab.package.name_en} · ¥3.24/h" in text(alice.get("/environments/new/"))


def test_what_is_free_now_is_shown_at_what_is_paid(lab: World, alice: Client) -> None:
    page = text(alice.get("/overview/free/"))
    assert "3.24<span" in page
    assert "<s>3.60</s>" in page


def test_other_cards_are_compared_at_what_is_paid(lab: World, alice: Client) -> None:
    Node.objects.all().delete()
    make_gpu_node(cards=2, model="H200")
    make_gpu_node(cards=2, model="L40S", name="gpu-b01")
    one, other = make_gpu_package(1, rate_fen=1000), make_gpu_package(1, model="L40S", rate_fen=1200)
    page = text(alice.get("/training/new/", {"package": one.pk}))
    assert f'value="{other.pk}"' in page
    assert "¥10.80/h · ¥1.80/h more · listed at ¥12.00/h" in page


def test_what_would_start_now_is_compared_at_what_is_paid(lab: World) -> None:
    Node.objects.all().delete()
    make_gpu_node(cards=2, model="H200")
    make_gpu_node(cards=2, model="L40S", name="gpu-b01")
    make_gpu_package(2, model="L40S", rate_fen=2600)
    scheduled(submit_on(lab.actor, make_gpu_package(2, rate_fen=1000), "first"))
    waiting = scheduled(submit_on(lab.actor, make_gpu_package(2, rate_fen=2000), "second"))
    with acting(lab.actor):
        found = would_start_now(lab.actor, waiting)
    assert [(row.rate_fen_per_hour, row.more_fen_per_hour) for row in found.rows] == [(Decimal(2340), Decimal(540))]
    assert found.rate_fen_per_hour == Decimal(1800)


def test_a_waiting_run_says_what_is_held_of_it(lab: World, alice: Client) -> None:
    run = submit(lab)
    assert Hold.objects.get().amount_fen == 324
    page = text(alice.get(url("detail", run)))
    assert "¥3.24" in page


def test_lists_and_the_interface_say_what_a_run_costs_its_organisation(lab: World, alice: Client) -> None:
    run = submit(lab)
    with acting(lab.actor):
        assert runs(lab.actor).get().paid_rate == Decimal(324)
    assert "3.24" in text(alice.get("/training/"))
    assert alice.get(f"/api/v1/training/runs/{run.pk}/").json()["rate_fen_per_hour"] == "324.0000000000"


def test_what_runs_goes_on_at_the_discount_that_its_meter_froze(lab: World) -> None:
    run = submit(lab)
    with acting(platform()):
        billing.open_meter(
            session_id=uuid4(),
            organisation_id=lab.organisation.pk,
            user_id=lab.alice.pk,
            workload_id=run.workload_id,
            label="digits",
            price_version_id=run.workload.price_version_id,
            at=db_now(),
        )
        set_discount(platform(), organisation_id=lab.organisation.pk, off=Decimal("0.5"))
    waiting = submit(lab)
    with acting(lab.actor):
        rates = dict(runs(lab.actor).values_list("pk", "paid_rate"))
    assert rates == {run.pk: Decimal(324), waiting.pk: Decimal(180)}
    with acting(platform()):
        both = [prices_of(each.workload_id, lab.organisation.pk).off for each in (run, waiting)]
    assert both == [OFF, Decimal("0.5")]  # alike by either way


def test_staff_see_what_the_organisation_pays_and_what_is_listed(lab: World) -> None:
    run = submit(lab)
    with acting(platform()):
        staff = signed_in(make_staff())
    assert "3.24" in text(staff.get("/console/workloads/"))
    page = text(staff.get(f"/console/workloads/{run.workload_id}/"))
    assert "¥3.24/h" in page
    assert "listed at ¥3.60/h" in page
    told = staff.get(f"/api/v1/console/workloads/{run.workload_id}/").json()
    assert told["rate_fen_per_hour"] == "324.0000000000"


def test_a_runs_page_says_one_price_and_names_the_listed_one_as_that(lab: World, alice: Client) -> None:
    page = text(alice.get(url("detail", submit(lab))))
    assert page.count("¥3.60/h") == page.count("listed at ¥3.60/h") == 1  # beside the price version
    assert page.count("¥3.24/h") >= 2  # from ready on, and in the passport


def test_an_environments_starts_and_their_sum_are_at_what_is_paid(lab: World, alice: Client) -> None:
    made = kit.running(kit.make(lab))
    with acting(lab.actor):
        assert environments(lab.actor).get(pk=made.pk).paid_rate == Decimal(324)
        assert totals(lab.actor)["rate"] == Decimal(324)
        assert [each.paid_rate for each in past_workloads(made)] == [Decimal(324)]
    assert "3.24" in text(alice.get("/environments/"))
