"""A version whose answers fail is left by itself for the one before, once, and only where its owner wants that."""

from datetime import timedelta

import pytest
from django.test import Client

from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.serving import changing, keys
from apps.serving.choices import DeploymentStatus as S
from apps.serving.door import counting
from apps.serving.keys import KeyDraft
from apps.serving.kind import SERVICE
from apps.serving.models import Deployment, Service, ServiceKey
from apps.serving.reconcile import going_back
from apps.tenants import quotas
from tests.builders import World, platform
from tests.serving.kit import advance, make_serving, of, put_ready, update

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(world: World) -> Service:
    """Version 2 has taken over from version 1 a while ago; it is left from 10 % of errors."""
    made = make_serving(world)
    second = update(world, made, "predict = max")
    put_ready(second)
    advance()
    with acting(world.actor):
        keys.create(world.actor, made, KeyDraft("app"))
        changing.change(world.actor, made.pk, changing.Settings("", (), None, 10))
    later(made)
    return made


def later(service: Service, by: timedelta = going_back.AFTER) -> None:
    with acting(platform()):
        Deployment.objects.filter(service=service, status=S.ACTIVE).update(active_at=db_now() - by)


def asked(service: Service, good: int, bad: int) -> None:
    """As a gateway counts, and writes."""
    with acting(platform()):
        key = ServiceKey.objects.get(service=service)
        counter = counting.Counter(lambda: db_now().timestamp())
    for status, count in ((200, good), (500, bad)):
        for _number in range(count):
            counter.answered(key.pk, service.pk, status, 5.0)
    counting.write(counter.take())


def told(service: Service) -> list[dict[str, object]]:
    with acting(platform()):
        rows = Notice.objects.filter(kind="service.went_back")
        return [row.data for row in rows]


def test_it_goes_back_once_and_what_it_went_back_to_is_not_left(world: World, service: Service) -> None:
    asked(service, 0, 500)  # of the version before, told late
    advance()
    assert of(service, S.PREPARING) is None
    asked(service, 20, 2)
    advance()
    assert of(service, S.PREPARING) is None, "2 of 22 are less than 10 %"
    asked(service, 0, 2)
    advance()
    coming = of(service, S.PREPARING)
    assert coming is not None
    with acting(platform()):
        assert (coming.version.number, coming.returns) == (1, True)
    (notice,) = told(service)
    assert (notice["version"], notice["to"], notice["percent"], notice["is_begun"]) == (2, 1, 16, True)
    advance()
    put_ready(coming)
    advance()
    with acting(platform()):
        now = of(service, S.ACTIVE)
        assert now is not None
        assert now.version.number == 1
    later(service)
    advance()
    asked(service, 0, 100)
    advance()
    assert of(service, S.PREPARING) is None, "two bad versions do not take turns"
    assert len(told(service)) == 1


@pytest.mark.parametrize("case", ["off", "few", "late", "first"])
def test_it_stays_where_nothing_says_that_it_should_go(world: World, service: Service, case: str) -> None:
    if case == "off":
        with acting(world.actor):
            changing.change(world.actor, service.pk, changing.Settings("", (), None))
    if case == "first":
        with acting(platform()):
            Deployment.objects.filter(service=service, status=S.DRAINING).update(reason="stopped")
    advance()
    asked(service, 0, going_back.LEAST - 1 if case == "few" else 50)
    if case == "late":
        later(service, going_back.WATCHED + timedelta(seconds=5))
    advance()
    assert of(service, S.PREPARING) is None
    assert told(service) == []


def test_whoever_starts_a_version_meanwhile_is_not_disturbed(world: World, service: Service) -> None:
    advance()
    asked(service, 0, 50)
    mine = update(world, service, "predict = min")
    advance()
    coming = of(service, S.PREPARING)
    assert coming is not None
    assert coming.pk == mine.pk
    assert told(service) == []


def test_without_room_it_says_so_once_and_goes_on_serving(world: World, service: Service) -> None:
    with acting(platform()):
        limit = {"organisation_id": world.organisation.pk, "resource": SERVICE.quota_line, "limit": 1}
        quotas.set_limit(platform(), **limit)
    advance()
    asked(service, 0, 50)
    for _turn in range(3):
        advance()
    assert of(service, S.PREPARING) is None
    assert of(service, S.ACTIVE) is not None
    assert [notice["is_begun"] for notice in told(service)] == [False]


def test_it_is_set_in_the_settings_by_page_and_by_api(world: World, service: Service, alice: Client) -> None:
    with acting(world.actor), pytest.raises(Invalid):
        changing.change(world.actor, service.pk, changing.Settings("", (), None, 101))
    home, api = f"/services/{service.pk}/settings/", f"/api/v1/services/{service.pk}/"
    assert 'name="back_at_percent" value="10"' in alice.get(home).content.decode()
    alice.post(home, {"note": "", "cors_origins": "", "back_at_percent": "30"})
    assert alice.get(api).json()["back_at_percent"] == 30
    changed = alice.patch(api, {"note": "x"}, content_type="application/json").json()
    assert (changed["note"], changed["back_at_percent"]) == ("x", 30), "what is not asked for stays"
    never = alice.patch(api, {"back_at_percent": None}, content_type="application/json").json()
    assert never["back_at_percent"] is None
