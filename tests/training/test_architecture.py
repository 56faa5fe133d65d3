"""An image for one architecture: the form says so before the launch, and so does the queue after it."""

import pytest
from django.test import Client
from django.utils.translation import override

from apps.clusters.models import Node
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.workloads.explaining.cases import Case
from apps.workloads.explaining.causes import words_of
from tests.builders import World, platform
from tests.training.kit import form_for, submit, text

NEW, QUOTE = "/training/new/", "/training/quote/"


@pytest.fixture
def for_arm(world: World) -> World:
    with acting(platform()):
        Image.objects.filter(pk=world.image.pk).update(architectures=["aarch64"])
        world.image.refresh_from_db()
    return world


def test_the_form_and_the_quote_say_that_no_machine_has_the_architecture(for_arm: World, alice: Client) -> None:
    assert "for ARM64 (aarch64)" in text(alice.get(NEW))
    said = "The image is for ARM64 (aarch64), and no machine with that architecture can run this"
    assert said in text(alice.get(NEW))
    assert said in text(alice.post(QUOTE, form_for(for_arm)))
    with acting(platform()):
        Node.objects.update(arch="aarch64")
    assert said not in text(alice.post(QUOTE, form_for(for_arm)))


def test_the_quote_of_the_api_says_so_too(for_arm: World, alice: Client) -> None:
    asked = {"package": for_arm.package.pk, "image": str(for_arm.image.pk)}
    found = alice.post("/api/v1/training/quote/", asked, "application/json").json()
    assert (found["starts_now"], found["cause"]) == (False, "arch")
    del asked["image"]
    assert alice.post("/api/v1/training/quote/", asked, "application/json").json()["starts_now"]


def test_a_run_is_bound_to_the_architecture_of_its_image(for_arm: World) -> None:
    assert submit(for_arm).workload.frozen_spec.archs == ("aarch64",)


def test_the_words_name_the_image_and_not_the_package() -> None:
    with override("en"):
        words = words_of(Case("arch", {"arch": "aarch64|x86_64"}))
    assert words.title.startswith("The image is for ARM64 (aarch64) / x86-64 (amd64)")
    assert "another image" in words.text
