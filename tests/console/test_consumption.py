"""Consumption: every total is the sum of its parts, down to the slice and its formula."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.test import Client

from apps.billing import services as billing
from apps.billing.days import billing_day
from apps.billing.models import PriceVersion, Transfer
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.console.finance.consumption import selectors as reads
from apps.console.finance.consumption.drilldown import Branch, Line, lines
from apps.console.finance.consumption.selectors import Scope
from apps.console.finance.consumption.words import formula
from tests.billing.builders import Run, price_of
from tests.builders import World, make_world, platform
from tests.console.kit import STARTED, charges_of, fen, page, ran, text_of

DAYS = {"since": "2026-11-20", "until": "2026-11-20"}
SCOPE = Scope(STARTED.date(), STARTED.date())


def opened(branch: Branch) -> list[Line]:
    with acting(platform()):
        return list(lines(platform(), branch))


def test_the_tree_opens_one_branch_down_to_the_slices(finance: Client, world: World) -> None:
    workload = ran(world, minutes=90)  # 10:20 to 11:50: two hours, two slices
    organisation = world.organisation
    top = text_of(finance.get(page("consumption"), DAYS))
    assert organisation.name in top
    assert "digits" not in top
    query: dict[str, Any] = {**DAYS, "organisation": organisation.pk, "workload": workload}
    assert "digits" in text_of(finance.get(page("consumption"), query))
    hour = charges_of(workload)[0].start.replace(minute=0, second=0, microsecond=0)
    text = text_of(finance.get(page("consumption"), {**query, "hour": hour.isoformat()}))
    assert "10:20:00 – 11:00:00" in text
    assert "2400 × 3.60 ÷ 3600" in text


def test_each_level_adds_up_to_the_one_above_and_the_top_to_the_ledger(world: World) -> None:
    workload = ran(world, minutes=97)
    ran(world, minutes=13, label="short")
    everything = Branch(SCOPE, organisation=world.organisation.pk, workload=workload)
    shown = opened(everything)
    top = next(line for line in shown if line.level == 1)
    children = [line.exact_fen or Decimal(0) for line in shown if line.level == 2]
    assert top.amount_fen == sum(children)  # the rounding is a line of its own
    hours = [line.exact_fen or Decimal(0) for line in shown if line.level == 3]
    parent = next(line for line in shown if line.level == 2 and line.opened)
    assert parent.exact_fen == sum(hours)
    assert sum(hours) == sum(charge.exact_fen for charge in charges_of(workload))
    with acting(platform()):
        moved = Transfer.objects.filter(organisation=world.organisation, kind="usage")
        assert top.amount_fen == sum(transfer.amount_fen for transfer in moved)
        agreed = reads.agreement(platform(), Scope(SCOPE.since, billing_day(db_now())))  # rated now
    assert agreed.difference_fen == 0
    assert agreed.runs > 0


def test_the_formula_gives_the_exact_amount(world: World) -> None:
    for charge in charges_of(ran(world, minutes=97)):
        factors, divisor = formula(charge).split(" ÷ ")
        seconds, rate = (Decimal(part) for part in factors.split(" × "))
        assert seconds * rate / Decimal(divisor) * 100 == charge.exact_fen


def test_a_chosen_slice_is_explained_with_price_version_entry_and_key(finance: Client, world: World) -> None:
    workload = ran(world)
    charge = charges_of(workload)[0]
    query: dict[str, Any] = {**DAYS, "organisation": world.organisation.pk, "workload": workload, "charge": charge.pk}
    text = text_of(finance.get(page("consumption"), query))
    assert "First proof of running" in text
    assert "Cut at the full hour" in text
    assert charge.key in text
    with acting(platform()):
        run = charge.run
        assert run.transfer_id is not None
    assert f"T-{run.transfer_id}" in text
    price = PriceVersion.objects.get(pk=charge.price_version_id)
    assert f"v{price.number}" in text


def test_what_is_metered_and_not_charged_yet_is_shown_as_such(world: World) -> None:
    with acting(platform()):
        run = Run(world.actor, price_of(world.package), opened=STARTED).open().seen(timedelta(minutes=10))
        billing.rate_organisation(
            platform(), organisation_id=world.organisation.pk, until=STARTED + timedelta(minutes=10)
        )
        run.seen(timedelta(minutes=16))
        (item,) = reads.pending(platform(), run.workload_id)
    assert (item.running, item.seconds, item.exact_fen) == (True, Decimal(360), Decimal(36))
    branch = Branch(SCOPE, organisation=world.organisation.pk, workload=run.workload_id)
    waiting = next(line for line in opened(branch) if line.level == 4 and line.faint)
    assert (waiting.label, waiting.exact_fen) == ("10:30:00 – running", Decimal(36))


def test_days_and_search_limit_every_level(finance: Client, world: World) -> None:
    ran(world, label="digits")
    ran(world, label="whales", opened=STARTED - timedelta(days=3))
    with acting(platform()):
        one_day = reads.totals(platform(), SCOPE)
        both = reads.totals(platform(), Scope(STARTED.date() - timedelta(days=5), STARTED.date()))
        found = reads.totals(platform(), Scope(STARTED.date() - timedelta(days=5), STARTED.date(), "whal"))
    assert (one_day.workloads, both.workloads, found.workloads) == (1, 2, 1)
    query: dict[str, Any] = {
        "since": "2026-11-15",
        "until": "2026-11-20",
        "q": "whal",
        "organisation": world.organisation.pk,
    }
    text = text_of(finance.get(page("consumption"), query))
    assert "whales" in text
    assert "digits" not in text


def test_another_organisation_has_a_line_of_its_own(world: World) -> None:
    with acting(platform()):
        other = make_world()
    ran(world)
    ran(other)
    shown = [line.label for line in opened(Branch(SCOPE))]
    assert {world.organisation.name, other.organisation.name} <= set(shown)


def test_the_chart_has_a_bar_for_each_day(finance: Client, world: World) -> None:
    workload = ran(world)
    exact = sum(charge.exact_fen for charge in charges_of(workload))
    (series,) = finance.get(page("consumption_days"), {"since": "2026-11-18", "until": "2026-11-20"}).json()
    assert [value for _at, value in series["points"]] == [0, 0, float(exact / 100)]


def test_nonsense_in_the_address_is_ignored(finance: Client, world: World) -> None:
    ran(world)
    nonsense = {
        "since": "yesterday",
        "until": "2026-99-99",
        "organisation": "x",
        "hour": "25:00",
        "orgs": "²",
        "charge": "٣",
    }
    assert finance.get(page("consumption"), nonsense).status_code == 200
    assert finance.get(page("consumption"), {"charge": 999_999}).status_code == 404


def test_an_organisation_page_shows_what_was_charged(finance: Client, world: World) -> None:
    yesterday = (db_now() - timedelta(days=1)).replace(hour=2, minute=20, second=0, microsecond=0)
    ran(world, opened=yesterday)
    with acting(platform()):
        total = reads.totals(platform(), Scope(yesterday.date(), yesterday.date()))
    text = text_of(finance.get(page("organisation", world.organisation.pk)))
    assert f"¥{fen(total.exact_fen)} before rounding" in text
