"""Runs in images of the platform's registry: pulled with a token of their own, and only where their owner may."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.registry.distribution import bearer, names
from apps.registry.distribution.access import Action
from apps.registry.models import ImageRepository
from apps.workloads.choices import Reason
from apps.workloads.drivers.base import PULL_CREDENTIAL
from apps.workloads.models import Workload
from apps.workloads.reconcile.launch import _pull_credential
from apps.workloads.references import Reference
from apps.workloads.start_rights import refusals
from tests.builders import World, actor_of, make_member, make_organisation, make_world, platform, submit_workload

pytestmark = pytest.mark.django_db

DIGEST = "sha256:" + "a" * 64


@pytest.fixture
def world(db: None, tmp_path: Path, settings: LazySettings) -> World:
    settings.PLSTACK_HOME, settings.REGISTRY_HOST = str(tmp_path), "hub.lab"
    with acting(platform()):
        return make_world()


def run_in(world: World, repository: str, **changes: Any) -> Workload:
    with acting(changes.get("actor", world.actor)):
        return submit_workload(world, image=Reference(f"hub.lab/{repository}", DIGEST), **changes)


def mine(world: World) -> str:
    return f"{names.organisation_part(world.organisation)}/{names.person_part(world.alice)}/torch"


def secret_of(workload: Workload) -> Any:
    with acting(platform()):
        return _pull_credential(workload)


def test_ones_own_image_is_pulled_with_a_token_for_it_alone(world: World) -> None:
    workload = run_in(world, mine(world))
    with acting(platform()):
        assert refusals([workload]) == {}
    (secret,) = secret_of(workload)
    assert (secret.name, secret.variable, secret.file) == (PULL_CREDENTIAL, "", "")
    claims = bearer.read(secret.value)
    assert claims["access"] == [{"type": "repository", "name": mine(world), "actions": ["pull"]}]
    assert not bearer.allows(claims, mine(world), Action.PUSH)


def test_a_colleagues_image_starts_while_it_is_shared_and_not_after(world: World) -> None:
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
        row = {"organisation": world.organisation, "owner": world.alice, "name": mine(world)}
        shared = ImageRepository.objects.create(**row, shared=True)
    workload = run_in(world, mine(world), actor=bob)
    assert secret_of(workload)[0].value
    with acting(platform()):
        ImageRepository.objects.filter(pk=shared.pk).update(shared=False)
        why = refusals([workload])[workload.pk]
    assert (why.reason, why.data["lost"]) == (Reason.UNAUTHORISED, "image")
    assert secret_of(workload)[0].value is None


def test_another_organisations_image_never_starts_even_where_it_is_cached(world: World) -> None:
    with acting(platform()):
        other = make_organisation()
        charlie = make_member(other, "charlie")
        name = f"{names.organisation_part(other)}/{names.person_part(charlie)}/torch"
        ImageRepository.objects.create(organisation=other, owner=charlie, name=name, shared=True)
    workload = run_in(world, name)
    with acting(platform()):
        assert refusals([workload])[workload.pk].data["lost"] == "image_share"
    assert secret_of(workload)[0].value is None


def test_images_of_other_registries_are_not_guarded_here(world: World) -> None:
    with acting(world.actor):
        workload = submit_workload(world, image=Reference("registry.elsewhere/team/torch", DIGEST))
    assert secret_of(workload) == ()
    with acting(platform()):
        assert refusals([workload]) == {}
