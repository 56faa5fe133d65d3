"""Arrears in the console: who stands where, terms of one organisation, and what "released" does to its data."""

from datetime import timedelta

import pytest

from apps.audit.models import Entry
from apps.billing import policy
from apps.billing import services as billing
from apps.billing.arrears.settings import ArrearsSettings
from apps.billing.models import ArrearsState, Transfer
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied
from apps.common.scoping import acting
from apps.console.finance.arrears import services as releasing
from apps.notifications.models import Notice
from apps.storage import volumes
from apps.storage.models import Volume
from apps.tenants import settings
from apps.tenants.choices import PlatformRole, Role
from tests.builders import (
    World,
    make_charged,
    make_organisation,
    make_staff,
    make_world,
    platform,
    signed_in,
    staff_actor,
    top_up,
)

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def world() -> World:
    """Alice keeps a volume in an organisation without money."""
    with acting(platform()):
        made = make_world(balance_fen=0, role=Role.ADMIN)
    with acting(made.actor):
        volumes.create(made.actor, name="results", size_mib=10)
    return made


def suspend(world: World) -> None:
    with acting(platform()):
        make_charged(world.organisation, world.alice, world.package)
        now = db_now()
        billing.arrears_sweep(platform(), now=now)
        billing.arrears_sweep(platform(), now=now + policy.GRACE + timedelta(seconds=1))


def release(world: World) -> None:
    """To the end of all notices."""
    suspend(world)
    with acting(platform()):
        for day in (24, 28, 30, 32):
            billing.arrears_sweep(platform(), now=db_now() + day * DAY)
        assert ArrearsState.objects.get(pk=world.organisation.pk).status == "released"


def page(world: World, name: str) -> str:
    return f"/console/organisations/{world.organisation.pk}/{name}/"


def test_finance_staff_see_who_is_short_of_money(world: World) -> None:
    client = signed_in(make_staff(PlatformRole.FINANCE))
    assert "Nobody is short of money" in client.get("/console/arrears/").content.decode()
    suspend(world)
    shown = client.get("/console/arrears/").content.decode()
    assert world.organisation.name in shown
    assert "Suspended" in shown
    assert "None in this state" in client.get("/console/arrears/", {"status": "low"}).content.decode()
    found = client.get("/api/v1/console/arrears/", {"status": "suspended"}).json()
    assert [row["organisation"] for row in found] == [str(world.organisation.pk)]


def test_finance_staff_set_the_terms_of_one_organisation(world: World) -> None:
    client = signed_in(make_staff(PlatformRole.FINANCE))
    done = client.post(page(world, "arrears"), {"grace_minutes": "90", "retention_days": ""})
    assert done.status_code == 302
    assert "90 minutes without money" in client.get(page(world, "arrears")).content.decode()
    refused = client.post(page(world, "arrears"), {"grace_minutes": "90", "retention_days": "3"})
    assert refused.status_code == 422
    with acting(platform()):
        entry = Entry.objects.get(action="billing.arrears_terms")
        assert (entry.before["grace_minutes"], entry.after["grace_minutes"]) == (None, 90)
    url = f"/api/v1/console/organisations/{world.organisation.pk}/arrears/"
    terms = {"grace_minutes": None, "retention_days": 14}
    answer = client.put(url, terms, content_type="application/json").json()
    assert (answer["grace_minutes"], answer["retention_days"], answer["terms"]["grace_minutes"]) == (None, 14, 10)


def test_who_only_looks_sets_nothing(world: World) -> None:
    client = signed_in(make_staff(PlatformRole.BUSINESS))
    assert client.post(page(world, "arrears"), {"grace_minutes": "1"}).status_code in (403, 404)


def test_data_goes_into_the_bin_only_once_it_is_released(world: World) -> None:
    staff = staff_actor(make_staff())
    suspend(world)
    with acting(staff), pytest.raises(Conflict):
        releasing.release_data(staff, organisation_id=world.organisation.pk)
    release(world)
    client = signed_in(make_staff())
    assert "Move its data into the bin" in client.get(page(world, "arrears")).content.decode()
    client.post(page(world, "release"))
    client.post(page(world, "release"))
    with acting(platform()):
        gone = Volume.objects.get()
        assert gone.deleted_at is not None
        assert gone.purge_at is not None
        assert gone.purge_at > db_now() + 20 * DAY
        assert Entry.objects.filter(action="billing.data_released").count() == 1
        assert Notice.objects.filter(kind="billing.binned", user=world.alice).count() == 1
        top_up(world.organisation, 100_000)
    with acting(world.actor):
        volumes.restore(world.actor, volumes.get_binned(world.actor, gone.pk))
        assert volumes.visible(world.actor).count() == 1


def test_it_goes_by_itself_only_where_the_settings_say_so(world: World) -> None:
    release(world)
    with acting(platform()) as actor:
        assert releasing.release_due(actor) == 0
        settings.put(staff_actor(make_staff()), ArrearsSettings(deletes=True))
        assert releasing.release_due(actor) == 1
        assert releasing.release_due(actor) == 0


def test_an_organisation_in_order_keeps_everything(world: World) -> None:
    with acting(platform()) as actor:
        settings.put(staff_actor(make_staff()), ArrearsSettings(deletes=True))
        other = make_organisation()
        assert releasing.release_due(actor) == 0
        assert not Transfer.objects.filter(organisation=other, kind="refund").exists()


def test_finance_staff_release_nothing(world: World) -> None:
    release(world)
    clerk = staff_actor(make_staff(PlatformRole.FINANCE))
    with acting(clerk), pytest.raises(Denied):
        releasing.release_data(clerk, organisation_id=world.organisation.pk)
