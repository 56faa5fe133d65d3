"""Packages that only some may use: lists of organisations, requests and their answers."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.db import connection

from apps.billing import selectors as funds
from apps.billing.models import Package, PackageRequest
from apps.billing.requests import selectors as reads
from apps.billing.requests import services as review
from apps.billing.requests.settings import Approvers, ReviewSettings
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, DomainError, Invalid, NotFound
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.tenants import settings
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Organisation
from tests.builders import (
    actor_of,
    make_member,
    make_organisation,
    make_package,
    make_staff,
    platform,
    staff_actor,
)


@dataclass(frozen=True, slots=True)
class Scene:
    organisation: Organisation
    alice: Actor
    admin: Actor
    plain: Package
    big: Package  # needs approval


@pytest.fixture
def scene(db: None) -> Iterator[Scene]:
    with acting(platform()):
        yield _scene()


def _scene() -> Scene:
    organisation = make_organisation(balance_fen=0)
    plain, big = make_package(), make_package()
    review.set_needs_review(platform(), package_id=big.pk, needs_review=True)
    return Scene(
        organisation,
        actor_of(make_member(organisation)),
        actor_of(make_member(organisation, "admin", Role.ADMIN)),
        plain,
        big,
    )


def usable(actor: Actor, scene: Scene) -> set[int]:
    return set(funds.packages(actor).values_list("pk", flat=True)) & {scene.plain.pk, scene.big.pk}


def ask(scene: Scene) -> PackageRequest:
    return review.request_package(scene.alice, package_id=scene.big.pk, reason="A large model")


def let_organisations_decide() -> None:
    settings.put(platform(), ReviewSettings(approvers=Approvers.ORGANISATION))


def test_what_needs_approval_is_usable_only_once_approved(scene: Scene) -> None:
    assert usable(scene.alice, scene) == {scene.plain.pk}
    request = ask(scene)
    assert usable(scene.alice, scene) == {scene.plain.pk}
    review.approve(staff_actor(make_staff(PlatformRole.BUSINESS)), request_id=request.pk)
    assert usable(scene.alice, scene) == {scene.plain.pk, scene.big.pk}
    assert usable(scene.admin, scene) == {scene.plain.pk}, "an approval is one person's"


def test_the_person_and_who_decides_are_told(scene: Scene) -> None:
    staff = make_staff(PlatformRole.BUSINESS)
    request = ask(scene)
    assert Notice.objects.get(user=staff).kind == "package.requested"
    review.deny(staff_actor(staff), request_id=request.pk, answer="Use the small one")
    notice = Notice.objects.get(user_id=scene.alice.person())
    assert (notice.kind, notice.data["reason"]) == ("package.denied", "Use the small one")
    assert reads.requestable_packages(scene.alice)[0].answer == "Use the small one"


def test_one_open_request_for_each_package(scene: Scene) -> None:
    ask(scene)
    with pytest.raises(Conflict):
        ask(scene)


def test_after_a_refusal_one_may_ask_again(scene: Scene) -> None:
    review.deny(platform(), request_id=ask(scene).pk, answer="No")
    assert ask(scene).state == "pending"


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501])
def test_a_request_says_why(scene: Scene, reason: str) -> None:
    with pytest.raises(Invalid):
        review.request_package(scene.alice, package_id=scene.big.pk, reason=reason)


def test_nobody_asks_for_what_needs_no_approval(scene: Scene) -> None:
    with pytest.raises(Conflict):
        review.request_package(scene.alice, package_id=scene.plain.pk, reason="Please")


def test_a_refusal_needs_words(scene: Scene) -> None:
    with pytest.raises(Invalid):
        review.deny(platform(), request_id=ask(scene).pk, answer=" ")


def test_an_approval_ends_with_its_days_or_when_it_is_taken_back(scene: Scene) -> None:
    request = review.approve(platform(), request_id=ask(scene).pk, days=3)
    assert request.expires_at is not None
    PackageRequest.objects.filter(pk=request.pk).update(expires_at=db_now() - timedelta(seconds=1))
    assert usable(scene.alice, scene) == {scene.plain.pk}
    again = review.approve(platform(), request_id=ask(scene).pk)
    assert usable(scene.alice, scene) == {scene.plain.pk, scene.big.pk}
    review.revoke_approval(platform(), request_id=again.pk)
    assert usable(scene.alice, scene) == {scene.plain.pk}


def test_organisations_decide_only_where_the_settings_say_so(scene: Scene) -> None:
    request = ask(scene)
    with pytest.raises(Denied):
        review.approve(scene.admin, request_id=request.pk)
    let_organisations_decide()
    with pytest.raises(Denied):
        review.approve(scene.alice, request_id=request.pk)
    review.approve(scene.admin, request_id=request.pk)
    with pytest.raises(Conflict):
        review.deny(scene.admin, request_id=request.pk, answer="No")


def test_another_tenants_request_is_not_there(scene: Scene) -> None:
    let_organisations_decide()
    request = ask(scene)
    stranger = actor_of(make_member(make_organisation(balance_fen=0), "charlie", Role.ADMIN))
    with acting(stranger):
        for act in (review.approve, review.revoke_approval, review.withdraw_request):
            with pytest.raises(NotFound):
                act(stranger, request_id=request.pk)


def test_an_organisation_uses_what_is_listed_for_it(scene: Scene) -> None:
    review.restrict_packages(platform(), organisation_id=scene.organisation.pk, package_ids=[scene.big.pk])
    assert usable(scene.alice, scene) == set()
    review.approve(platform(), request_id=ask(scene).pk)
    assert usable(scene.alice, scene) == {scene.big.pk}
    review.restrict_packages(platform(), organisation_id=scene.organisation.pk, package_ids=[])
    assert usable(scene.alice, scene) == set()
    with pytest.raises(NotFound):
        review.request_package(scene.admin, package_id=scene.big.pk, reason="Please")
    review.restrict_packages(platform(), organisation_id=scene.organisation.pk, package_ids=None)
    assert usable(scene.alice, scene) == {scene.plain.pk, scene.big.pk}
    with pytest.raises(Denied):
        review.restrict_packages(scene.admin, organisation_id=scene.organisation.pk, package_ids=None)


def test_others_are_not_restricted(scene: Scene) -> None:
    review.restrict_packages(platform(), organisation_id=scene.organisation.pk, package_ids=[])
    stranger = actor_of(make_member(make_organisation(balance_fen=0), "charlie"))
    assert usable(stranger, scene) == {scene.plain.pk}


@pytest.mark.django_db(transaction=True)
def test_twenty_requests_at_once_are_one() -> None:
    with acting(platform()):
        scene = _scene()

    def submit(_number: int) -> bool:
        try:
            with acting(scene.alice):
                ask(scene)
            return True
        except DomainError:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(submit, range(20))) == 1
