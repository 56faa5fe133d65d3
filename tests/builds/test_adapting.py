"""Adding what an environment needs to an image that lacks it."""

from uuid import uuid4

import pytest
from django.test import Client

from apps.builds.adaptation import containerfile, name_for
from apps.builds.plan import make
from apps.common.scoping import acting
from apps.registry.models import Image
from tests.builders import World, make_member, make_organisation, platform
from tests.builds.kit import build
from tests.builds.machine import ended, log_of
from tests.drivers.registries import BUSYBOX, Registry, busybox, layer

APPLETS = ("sh", "touch", "test", "cat")
# Says of modules that they are there once a package was asked for, as the real one does.
PYTHON = b"""#!/bin/sh
case "$*" in
    "-m pip install ipykernel") touch /ipykernel;;
    *ipykernel*) test -e /ipykernel;;
esac
"""


@pytest.mark.django_db
class TestPage:
    def test_it_begins_with_a_script_that_may_be_changed(self, debian: Image, alice: Client) -> None:
        assert f"/builds/new/?adapt={debian.pk}" in alice.get("/images/").content.decode()
        page = alice.get(f"/builds/new/?adapt={debian.pk}").content.decode()
        assert f"FROM {debian.reference}" in page
        assert "python3 -m pip install ipykernel" in page
        assert 'value="Debian-12-env"' in page
        assert "Adds to Debian 12 what an environment needs" in page

    def test_another_organisations_image_is_not_adapted(self, world: World, debian: Image, alice: Client) -> None:
        with acting(platform()):
            other = make_organisation()
            reference = f"hub.lab/x/y@sha256:{'e' * 64}"
            words = {"description_en": "x", "description_zh": "x", "owner": make_member(other, "charlie")}
            theirs = Image.objects.create(key="own-x", name="x", organisation=other, reference=reference, **words)
        for asked in (theirs.pk, uuid4(), "x"):
            assert reference not in alice.get(f"/builds/new/?adapt={asked}").content.decode()

    def test_a_runtimes_packages_begin_a_container_image(self, world: World, debian: Image, alice: Client) -> None:
        with acting(platform()):
            Image.objects.filter(pk=world.image.pk).update(requirements=["numpy==2.3.5", "scikit-learn==1.7.2"])
        assert f"/builds/new/?recipe={world.image.pk}" in alice.get("/images/").content.decode()
        page = alice.get(f"/builds/new/?recipe={world.image.pk}").content.decode()
        assert "numpy==2.3.5\nscikit-learn==1.7.2</textarea>" in page
        assert f'value="{world.image.name}-image"' in page

    def test_the_script_is_a_containerfile(self, debian: Image) -> None:
        assert [step.do for step in make(containerfile(debian), ()).steps] == ["run", "run", "run"]
        assert name_for(Image(name="team/torch:2.9 (CUDA)")) == "team-torch-2.9-CUDA-env"


@pytest.mark.programs
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(BUSYBOX is None, reason="busybox-static is not installed")
class TestScript:
    def image(self, pushed: Registry, *extra: tuple[str, bytes]) -> Image:
        reference = pushed.image(busybox(*APPLETS), layer(("bin/python3", PYTHON), *extra), Env=["PATH=/bin"])
        with acting(platform()):
            found: Image = Image.objects.create(
                key=f"py-{uuid4().hex[:8]}", name="py", description_en="x", description_zh="x", reference=reference.name
            )
        return found

    def test_only_what_is_missing_is_added(self, world: World, box: Image, pushed: Registry) -> None:
        made = ended(build(world, containerfile(self.image(pushed, ("bin/bash", b"#!/bin/sh\n")))))
        assert made.workload.status == "succeeded", log_of(made.workload)
        assert made.image is not None

    def test_an_image_that_lacks_nothing_is_left_as_it_is(self, world: World, box: Image, pushed: Registry) -> None:
        whole = self.image(pushed, ("bin/bash", b"#!/bin/sh\n"), ("ipykernel", b""))
        made = ended(build(world, containerfile(whole)))
        assert made.image is None
        assert "Nothing was changed in its image" in log_of(made.workload)

    def test_what_cannot_be_added_is_said_with_its_line(self, world: World, box: Image, pushed: Registry) -> None:
        """Neither bash nor apt-get."""
        made = ended(build(world, containerfile(self.image(pushed))))
        assert made.workload.status == "failed"
        assert "failed: it ended with 127" in log_of(made.workload)
