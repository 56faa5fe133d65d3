"""Who hears of a shortage of money: the organisation, the owners of what runs, and the platform's staff."""

from datetime import timedelta

import pytest

from apps.billing import services
from apps.billing.choices import RechargeKind
from apps.billing.models import RechargeRequest
from apps.billing.payments import recharge_review
from apps.common.actor import Actor
from apps.notifications.models import Delivery, Notice
from apps.notifications.words import words
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Organisation, PlatformAssignment, User
from tests.billing.builders import NOON, PLATFORM, Run, make_member, make_package, make_staff, price_of, top_up

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def boss(lab: Organisation) -> Actor:
    return make_member(lab, Role.ADMIN)


@pytest.fixture
def run(lab: Organisation, boss: Actor) -> Run:
    return Run(make_member(lab), price_of(make_package(100)))


def staff(role: PlatformRole) -> User:
    user = User.objects.create(username=f"staff-{role.value}")
    PlatformAssignment.objects.create(user=user, role=role)
    return user


def kinds_of(actor: Actor) -> list[str]:
    rows = Notice.objects.filter(user_id=actor.user_id).exclude(kind="billing.topped_up").order_by("pk")
    return list(rows.values_list("kind", flat=True))


def sweep(after: timedelta = timedelta(0)) -> None:
    services.arrears_sweep(PLATFORM, now=NOON + after)


def test_the_owner_of_running_work_is_told_until_when_it_runs(lab: Organisation, run: Run, boss: Actor) -> None:
    User.objects.filter(pk=run.actor.user_id).update(email="owner@example.org")
    idle = make_member(lab)
    top_up(lab, 1000)
    run.open()
    sweep()
    assert kinds_of(run.actor) == ["billing.work_low"]
    assert kinds_of(boss) == ["billing.low"]
    assert kinds_of(idle) == []
    said = words(Notice.objects.get(kind="billing.work_low"))
    assert "digits runs until about" in said.text
    assert Delivery.objects.filter(user_id=run.actor.user_id, address="owner@example.org").count() == 1


def test_each_owner_is_told_once_with_all_that_runs(lab: Organisation, run: Run) -> None:
    top_up(lab, 1000)
    for number in range(7):
        Run(run.actor, run.price, label=f"work-{number}").open()
    sweep()
    sweep()
    (notice,) = Notice.objects.filter(user_id=run.actor.user_id, kind="billing.work_low")
    assert "work-0, work-1, work-2, work-3, work-4 and 2 more" in words(notice).text


def test_an_admin_who_owns_running_work_is_told_for_the_organisation_only(lab: Organisation, boss: Actor) -> None:
    top_up(lab, 1000)
    Run(boss, price_of(make_package(100))).open()
    sweep()
    assert kinds_of(boss) == ["billing.low"]


def test_owner_and_staff_hear_of_grace_and_staff_of_the_stop(lab: Organisation, run: Run) -> None:
    finance, business, ops = (staff(r) for r in (PlatformRole.FINANCE, PlatformRole.BUSINESS, PlatformRole.OPS))
    run.open().seen(HOUR)
    services.rate_due(PLATFORM, until=NOON + HOUR)
    sweep()
    sweep(11 * MINUTE)
    assert kinds_of(run.actor) == ["billing.work_grace"]
    for user in (finance, business):
        rows = Notice.objects.filter(user=user).order_by("pk")
        assert [row.kind for row in rows] == ["billing.organisation_grace", "billing.organisation_suspended"]
        assert all(lab.name in words(row).title and str(lab.pk) in words(row).url for row in rows)
        assert {row.organisation_id for row in rows} == {None}, "in the console"
    assert not Notice.objects.filter(user=ops).exists()


def test_an_offline_recharge_is_told_once(lab: Organisation, boss: Actor) -> None:
    member = make_member(lab)
    for _again in range(2):
        services.top_up(PLATFORM, organisation_id=lab.pk, amount_fen=500_000, reference="BANK-1")
    (notice,) = Notice.objects.filter(kind="billing.topped_up")
    assert notice.user_id == boss.user_id != member.user_id
    said = words(notice)
    assert "5,000.00" in said.title
    assert "BANK-1" in said.text
    assert "Alipay" not in said.text


def test_a_reversal_is_told_with_its_reason(lab: Organisation, boss: Actor) -> None:
    paid = services.top_up(PLATFORM, organisation_id=lab.pk, amount_fen=500_000, reference="BANK-1")
    asked = recharge_review.ask_reversal(make_staff(), transfer_id=paid.pk, reason="wrong organisation")
    assert not Notice.objects.filter(kind="billing.taken_back").exists()
    recharge_review.approve(make_staff(), request_id=asked.pk)
    assert RechargeRequest.objects.get().kind == RechargeKind.REVERSAL
    (notice,) = Notice.objects.filter(kind="billing.taken_back")
    assert notice.user_id == boss.user_id
    said = words(notice)
    assert "5,000.00" in said.title
    assert "BANK-1" in said.text
    assert "wrong organisation" in said.text
