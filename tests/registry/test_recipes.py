"""Recipes of the platform's images: from one source a runtime and a Containerfile."""

import re

import pytest
from django.test import Client

from apps.builds.plan import make
from apps.clusters.architectures import Architecture
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.registry.picker import ImageChoice, image_groups
from apps.registry.platform_images import ensure_platform_images
from apps.registry.recipes.catalogue import RECIPES, RUNTIMES, find, to_build
from apps.registry.recipes.recipe import PYTHON_BASE, UBUNTU_BASE, Group, Recipe, containerfile_of
from apps.registry.services import NAME, merge_pins
from tests.builders import World, make_world, platform, signed_in

PLAIN = Recipe("plain", "Plain", Group.BASIC, "x", "x", 1, ("numpy==2.4.6", "torch==2.14.1"))
WITH_APT = Recipe("apt", "With apt", Group.BASIC, "x", "x", 1, ("numpy==2.4.6",), apt=("git", "curl"))


def each(recipe: Recipe) -> str:
    return recipe.key


class TestCatalogue:
    def test_there_are_many(self) -> None:
        assert len(RECIPES) >= 30
        assert len(RUNTIMES) >= 25
        wanted = {"torch", "tensorflow", "paddlepaddle", "mindspore", "jax", "scikit-learn", "xgboost", "lightgbm"}
        assert wanted | {"ray"} <= {pin.partition("==")[0] for recipe in RUNTIMES for pin in recipe.requirements}
        assert {"r-4-5", "spark-4-3", "ubuntu-24-04"} <= {recipe.key for recipe in to_build()}

    def test_no_two_are_alike(self) -> None:
        for what in ("key", "name", "sort"):
            assert len({getattr(recipe, what) for recipe in RECIPES}) == len(RECIPES), what
        contents = {(recipe.base, recipe.requirements, recipe.apt, recipe.index_url) for recipe in RECIPES}
        assert len(contents) == len(RECIPES)

    @pytest.mark.parametrize("recipe", RECIPES, ids=each)
    def test_each_says_exactly_what_is_in_it(self, recipe: Recipe) -> None:
        assert merge_pins((), recipe.requirements) == list(recipe.requirements)  # exact, and none twice
        assert NAME.match(recipe.name)  # so that administrators can save it
        assert re.fullmatch(r"[a-z0-9-]{1,50}", recipe.key)
        assert 0 < len(recipe.description_en) <= 200
        assert re.search(r"[\u4e00-\u9fff]", recipe.description_zh)
        assert set(recipe.architectures) <= set(Architecture.values)
        assert recipe.is_runtime or recipe.apt or recipe.index_url
        assert bool(recipe.download_mb) or not (recipe.is_runtime and recipe.requirements)

    @pytest.mark.parametrize("recipe", RECIPES, ids=each)
    def test_each_containerfile_can_be_built_here(self, recipe: Recipe) -> None:
        plan = make(recipe.containerfile(), ())
        assert plan.base == recipe.base
        ran = " ".join(step.argv[-1] for step in plan.steps)
        for wanted in (*recipe.requirements, *recipe.apt, *recipe.slim_apt, recipe.index_url):
            assert wanted in ran


class TestContainerfile:
    def test_pins_stand_one_a_line(self) -> None:
        lines = PLAIN.containerfile().splitlines()
        assert lines == [
            f"FROM {PYTHON_BASE}",
            "RUN python3 -m pip install --no-cache-dir \\",
            "    numpy==2.4.6 \\",
            "    torch==2.14.1",
        ]
        assert containerfile_of(PLAIN.requirements) == PLAIN.containerfile()

    def test_system_packages_come_first_and_make_it_no_runtime(self) -> None:
        text = WITH_APT.containerfile("hub.lab/debian@sha256:x")
        assert text.startswith("FROM hub.lab/debian@sha256:x\nRUN apt-get update")
        assert text.index("git curl") < text.index("numpy")
        assert PLAIN.is_runtime
        assert not WITH_APT.is_runtime

    def test_python_alone_installs_nothing(self) -> None:
        assert containerfile_of(()) == f"FROM {PYTHON_BASE}\n"


def test_what_needs_more_than_pip_is_found_by_its_words() -> None:
    assert [recipe.key for recipe in to_build("PYSPARK")] == ["spark-4-3"]
    assert [recipe.key for recipe in to_build("tidyverse")] == ["r-4-5"]
    assert to_build("torch==2.15.0") == ()


@pytest.fixture
def world(db: None) -> World:
    with acting(platform()):
        world = make_world()
        ensure_platform_images()
    return world


@pytest.fixture
def alice(world: World) -> Client:
    return signed_in(world.alice)


def test_runtimes_are_rows_and_the_others_are_not(world: World) -> None:
    assert {recipe.key for recipe in RUNTIMES} <= set(Image.objects.values_list("key", flat=True))
    assert not Image.objects.filter(key__in=[recipe.key for recipe in to_build()]).exists()
    assert Image.objects.get(key="tensorflow-2-21-cuda").architectures == ["x86_64"]


class TestPicker:
    def choices(self, world: World) -> list[ImageChoice]:
        with acting(platform()):
            Image.objects.create(key="platform-x", name="Lab tools", description_en="x", description_zh="x")
            names = {"description_en": "x", "description_zh": "x", "organisation": world.organisation}
            Image.objects.create(key="own-a", name="mine", owner=world.alice, **names)
        return [ImageChoice(image, False) for image in Image.objects.all()]

    def test_ones_own_and_the_common_ones_stand_first_and_open(self, world: World) -> None:
        chosen = Image.objects.get(key="sb3-2-9")
        groups = image_groups(self.choices(world), world.alice.pk, str(chosen.pk))
        assert [str(group.title) for group in groups[:3]] == ["My images", "Common", "From the administrators"]
        opened = {str(group.title) for group in groups if group.is_open}
        assert opened == {"My images", "Common", "Reinforcement learning"}
        assert sum(len(group.choices) for group in groups) == Image.objects.count()

    def test_a_colleagues_are_not_ones_own(self, world: World) -> None:
        groups = image_groups(self.choices(world), None, "")
        assert "Shared by colleagues" in [str(group.title) for group in groups]

    def test_a_few_need_no_groups(self, world: World) -> None:
        few = self.choices(world)[:8]
        assert [(str(group.title), group.is_open, len(group.choices)) for group in image_groups(few, 1, "")] == [
            ("", True, 8)
        ]
        assert image_groups([], 1, "") == []

    def test_forms_offer_all_of_them(self, alice: Client) -> None:
        for address in ("/environments/new/", "/training/new/"):
            page = alice.get(address).content.decode()
            assert page.count('type="radio" name="image"') == Image.objects.count()
            assert 'data-find="image-groups"' in page
            assert "Deep learning" in page


class TestPages:
    def test_an_image_shows_its_containerfile_and_leads_to_a_build(self, alice: Client) -> None:
        image, recipe = Image.objects.get(key="xgboost-3-2"), find("xgboost-3-2")
        page = alice.get(f"/images/{image.pk}/").content.decode()
        assert recipe is not None
        assert recipe.containerfile() in page
        assert "/builds/new/?recipe=xgboost-3-2" in page
        assert "to download" in page

    def test_one_that_administrators_changed_is_shown_as_it_is(self, alice: Client) -> None:
        Image.objects.filter(key="xgboost-3-2").update(requirements=["xgboost==3.0.0"])
        image = Image.objects.get(key="xgboost-3-2")
        page = alice.get(f"/images/{image.pk}/").content.decode()
        assert "xgboost==3.0.0" in page
        assert "scikit-learn==" not in page
        assert f"/builds/new/?recipe={image.pk}" in page

    def test_what_has_to_be_built_is_offered_as_such(self, alice: Client) -> None:
        assert "/images/recipes/spark-4-3/" in alice.get("/images/").content.decode()
        assert "/images/recipes/spark-4-3/" in alice.get("/images/", {"q": "pyspark"}).content.decode()
        assert "/images/recipes/" not in alice.get("/images/", {"q": "xgboost"}).content.decode()
        assert "/images/recipes/" not in alice.get("/images/", {"whose": "mine"}).content.decode()
        page = alice.get("/images/recipes/spark-4-3/").content.decode()
        assert "default-jre-headless" in page
        assert "/builds/new/?recipe=spark-4-3" in page

    def test_the_api_has_all_of_them(self, alice: Client) -> None:
        told = {row["key"]: row for row in alice.get("/api/v1/builds/recipes/").json()}
        assert set(told) == {recipe.key for recipe in RECIPES}
        spark, recipe = told["spark-4-3"], find("spark-4-3")
        assert recipe is not None
        assert (spark["is_runtime"], spark["group"], spark["containerfile"]) == (False, "data", recipe.containerfile())
        assert told["xgboost-3-2"]["is_runtime"]

    @pytest.mark.parametrize("key", ["xgboost-3-2", "nothing"])
    def test_runtimes_and_what_is_not_there_have_no_such_page(self, alice: Client, key: str) -> None:
        assert alice.get(f"/images/recipes/{key}/").status_code == 404


class TestBuild:
    def base(self, name: str, letter: str) -> Image:
        reference = f"hub.lab/x/{letter}@sha256:{letter * 64}"
        words = {"description_en": "x", "description_zh": "x"}
        image: Image = Image.objects.create(key=f"base-{letter}", name=name, reference=reference, **words)
        return image

    def test_it_begins_with_the_recipe(self, alice: Client) -> None:
        self.base("ubuntu:24.04", "a")
        page = alice.get("/builds/new/?recipe=ubuntu-24-04").content.decode()
        assert f"FROM {UBUNTU_BASE}\n" in page
        assert 'value="ubuntu-24-04"' in page
        assert "No image on offer is called" not in page

    def test_an_image_like_the_base_stands_in_for_it(self, alice: Client) -> None:
        other = self.base("Python 3.12", "b")
        like = self.base("Python 3.11 slim", "c")
        page = alice.get("/builds/new/?recipe=spark-4-3").content.decode()
        assert f"FROM {like.reference}\n" in page
        assert other.reference not in page.split("<textarea")[-1]

    def test_a_base_that_nobody_offers_is_named(self, alice: Client) -> None:
        self.base("Python 3.12", "b")
        page = alice.get("/builds/new/?recipe=r-4-5").content.decode()
        assert "No image on offer is called debian:trixie-slim" in page
        assert "FROM debian:trixie-slim\n" in page
