"""What is said of images beside their rows: size, who may use them, when they last ran."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django_scopes import scopes_disabled

from apps.clusters import services as clusters
from apps.clusters.models import ZonePackage
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.registry import ruling
from apps.registry.facts import MEMORY, Facts, facts_of, recipe_of
from apps.registry.models import Image, ImageManifest, ImageRepository
from apps.registry.picker import spec_image
from apps.registry.platform_images import ensure_platform_images
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import (
    World,
    actor_of,
    make_member,
    make_organisation,
    make_staff,
    make_world,
    platform,
    signed_in,
    staff_actor,
    submit_workload,
)

DIGEST = "sha256:" + "a" * 64


@pytest.fixture
def world(db: None, tmp_path: Path, settings: LazySettings) -> World:
    settings.PLSTACK_HOME = str(tmp_path)
    with acting(platform()):
        world = make_world()
        ensure_platform_images()
    return world


def ran(world: World, image: Image, actor: Actor | None = None, ago: timedelta = timedelta(0), **states: Any) -> None:
    """Work in it that started so long ago, and is submitted a minute before."""
    actor = actor or world.actor
    with acting(actor):
        workload = submit_workload(world, actor, image=spec_image(image))
    moment = db_now() - ago
    values = {"created_at": moment - timedelta(minutes=1), "started_at": moment, **states}
    with scopes_disabled():
        Workload.objects.filter(pk=workload.pk).update(**values)


def facts(image: Image, actor: Actor) -> Facts:
    with acting(actor):
        return facts_of([image])[image.pk]


def shipped(key: str = "xgboost-3-2") -> Image:
    image: Image = Image.objects.get(key=key)
    return image


def container(world: World, size: int | None = None) -> Image:
    reference = f"hub.lab/lab/x@{DIGEST}"
    words = {"description_en": "x", "description_zh": "x", "organisation": world.organisation, "owner": world.alice}
    image: Image = Image.objects.create(key="pushed-x", name="x:1", reference=reference, shared=True, **words)
    if size is not None:
        of = {"organisation": world.organisation, "name": "lab/x", "owner": world.alice}
        with acting(platform()):
            row = ImageRepository.objects.create(**of)
            ImageManifest.objects.create(
                organisation=world.organisation, repository=row, digest=DIGEST, media_type="", size=size
            )
    return image


class TestLastRun:
    def test_the_newest_start_counts(self, world: World) -> None:
        image = shipped()
        assert facts(image, world.actor).last_run is None
        ran(world, image, ago=timedelta(days=9))
        ran(world, image, ago=timedelta(days=2))
        found = facts(image, world.actor)
        assert found.last_run is not None
        assert timedelta(days=2) <= db_now() - found.last_run < timedelta(days=2, minutes=5)
        assert found.running == 0

    def test_what_runs_now_is_counted(self, world: World) -> None:
        ran(world, shipped(), status=Status.RUNNING)
        ran(world, shipped(), status=Status.RUNNING)
        ran(world, shipped("python"), status=Status.RUNNING)
        assert facts(shipped(), world.actor).running == 2

    def test_a_container_image_is_known_by_its_digest(self, world: World) -> None:
        image = container(world)
        ran(world, image)
        assert facts(image, world.actor).last_run is not None
        assert facts(shipped(), world.actor).last_run is None

    def test_what_waits_is_simulated_or_long_ago_is_no_run_here(self, world: World) -> None:
        image = shipped()
        ran(world, image, started_at=None)
        ran(world, image, ago=MEMORY + timedelta(days=1))
        with acting(platform()):
            zone = clusters.add_simulated_zone(platform(), isolation="L1", isolation_reason="")
            ZonePackage.objects.create(zone=zone, package=world.package, listed_fen_per_hour=1)
        ran(world, image)
        with scopes_disabled():
            assert Workload.objects.filter(spec__simulated=True, started_at__isnull=False).count() == 1
        assert facts(image, world.actor).last_run is None

    def test_another_organisations_runs_are_not_told(self, world: World) -> None:
        with acting(platform()):
            other = make_organisation()
            bob = actor_of(make_member(other, "bob"), other)
            staff = staff_actor(make_staff())
        ran(world, shipped(), actor=bob)
        assert facts(shipped(), world.actor).last_run is None
        assert facts(shipped(), bob).last_run is not None
        assert facts(shipped(), staff).last_run is not None


class TestSize:
    def test_of_a_recipe_it_is_what_is_downloaded(self, world: World) -> None:
        assert facts(shipped(), world.actor).size == 559_000_000
        assert facts(shipped("python"), world.actor).size is None

    def test_of_a_container_image_it_is_all_of_its_layers(self, world: World) -> None:
        assert facts(container(world, size=7_000_000), world.actor).size == 7_000_000

    def test_of_another_organisations_image_it_is_not_told(self, world: World) -> None:
        image = container(world, size=7_000_000)
        with acting(platform()):
            other = make_organisation()
            bob = actor_of(make_member(other, "bob"), other)
        assert facts(image, bob).size is None

    def test_what_administrators_changed_is_no_recipe_any_more(self, world: World) -> None:
        with acting(platform()):
            staff = staff_actor(make_staff())
        image = shipped()
        assert recipe_of(image) is not None
        with acting(staff):
            spec = ruling.ImageSpec(image.name, "x", "x", tuple(image.requirements), 7)
            ruling.update(staff, image.pk, spec)
            assert recipe_of(shipped()) is not None
            ruling.update(staff, image.pk, replace(spec, requirements=("xgboost==3.0.0",)))
        assert recipe_of(shipped()) is None
        assert facts(shipped(), world.actor).size is None


class TestPages:
    @pytest.fixture
    def alice(self, world: World) -> Client:
        return signed_in(world.alice)

    def test_the_list_says_all_three(self, world: World, alice: Client) -> None:
        Image.objects.exclude(key="xgboost-3-2").update(active=False)
        ran(world, shipped(), status=Status.RUNNING)
        page = alice.get("/images/").content.decode()
        assert "533.1\xa0MB" in page  # 559,000,000 bytes
        assert "1 running now" in page
        assert "the platform" in page
        Image.objects.filter(key="xgboost-3-2").update(restricted=True)
        shipped().allowed.add(world.organisation)
        assert "for organisations that were named" in alice.get("/images/").content.decode()
        page = alice.get(f"/images/{shipped().pk}/").content.decode()
        assert "yours among them" in page
        assert "1 running now" in page

    def test_an_image_of_which_nothing_is_known_says_so(self, world: World, alice: Client) -> None:
        page = alice.get(f"/images/{container(world).pk}/").content.decode()
        assert "not in the last 90 days" in page
        assert "Everybody in the organisation" in page
        assert DIGEST in page
        assert "Containerfile" not in page

    def test_the_console_counts_every_organisations_runs(self, world: World) -> None:
        with acting(platform()):
            staff = signed_in(make_staff())
        ran(world, shipped(), status=Status.RUNNING)
        address = f"/console/images/{shipped().pk}/"
        assert "1 running now" in staff.get(address).content.decode()
        assert "533.1\xa0MB" in staff.get(address).content.decode()
        assert "1 running now" in staff.get("/console/images/", {"q": "xgboost"}).content.decode()
        assert "1 running now" not in staff.get("/console/images/", {"q": "catboost"}).content.decode()

    def test_what_one_may_not_choose_is_not_there(self, world: World, alice: Client) -> None:
        with acting(platform()):
            other = make_organisation()
            charlie = signed_in(make_member(other, "charlie"))
        image = container(world)
        assert alice.get(f"/images/{image.pk}/").status_code == 200
        assert charlie.get(f"/images/{image.pk}/").status_code == 404
        Image.objects.filter(pk=image.pk).update(shared=False, owner=make_member_of(world))
        assert alice.get(f"/images/{image.pk}/").status_code == 404

    def test_more_images_need_no_more_statements(
        self, world: World, alice: Client, django_assert_max_num_queries: Any
    ) -> None:
        container(world, size=7)
        alice.get("/images/")
        for query in ({}, {"per_page": "50"}):
            with django_assert_max_num_queries(18):
                alice.get("/images/", query)
        with django_assert_max_num_queries(18):
            alice.get(f"/images/{shipped().pk}/")


def make_member_of(world: World) -> Any:
    with acting(platform()):
        return make_member(world.organisation, "dora")
