"""Stages of a request: programs in other images before its own, promised by drivers of container images."""

import pytest

from apps.workloads.drivers.base import LaunchRefused, Phase, RuntimeImage
from apps.workloads.drivers.request import Stage
from tests.drivers.contract_images import ImagesContract
from tests.drivers.kit import Kit
from tests.drivers.registries import Registry, layer

OUT = "/workspace/output"


class StagesContract(ImagesContract):
    """What a driver promises of them."""

    def test_they_run_before_it_in_images_of_their_own(self, kit: Kit, images: Registry) -> None:
        first, second = (self.box(images, layer((f"of-{name}", name.encode()))) for name in ("first", "second"))
        image = self.box(images, layer(("own", b"own")))
        leave = "cat /of-first > /workspace/output/left; echo x > /tmp/x; echo x > /x; mkfifo /pipe; echo one"
        spoil = "ls /of-first /tmp/x /x 2>&1; cat /of-second; echo no > /workspace/output/left || echo kept"
        stages = (Stage(first, ("sh", "-c", leave), (OUT,)), Stage(second, ("sh", "-c", spoil)))
        look = "ls /of-first /of-second /tmp/x /x 2>&1; cat /own /workspace/output/left"
        handle = kit.launch(self.in_image(kit, images, image, "sh", "-c", look, stages=stages))
        seen = kit.wait(handle)
        assert seen.exit is not None
        assert seen.exit.succeeded, kit.log(handle)
        told = kit.text(handle)
        assert told.count("No such file") == 3 + 4, told
        assert told.index("one\n") < told.index("second")
        assert "Read-only file system" in told
        assert "kept" in told
        assert told.endswith("ownfirst")
        assert [step.name for step in seen.steps] == [Phase.IMAGE, Phase.MOUNT]
        assert seen.ran_for_s is not None

    def test_one_that_fails_ends_all(self, kit: Kit, images: Registry) -> None:
        box = self.box(images)
        stages = (Stage(box, ("sh", "-c", "echo failing; exit 3")), Stage(box, ("echo", "second")))
        ended, told = kit.run(self.in_image(kit, images, box, "echo", "last", stages=stages))
        assert (ended.code, told) == (3, "failing\n")

    def test_one_is_stopped_with_all_after_it(self, kit: Kit, images: Registry) -> None:
        box = self.box(images)
        stages = (Stage(box, ("sh", "-c", "echo begun; sleep 600")),)
        handle = kit.launch(self.in_image(kit, images, box, "echo", "last", stages=stages))
        kit.wait_output(handle, "begun")
        kit.driver.stop(handle, 0.0)
        kit.wait(handle)
        assert "last" not in kit.text(handle)

    def test_they_need_a_container_image_and_write_to_its_mounts_alone(self, kit: Kit, images: Registry) -> None:
        box = self.box(images)
        for request in (
            kit.request("true", image=RuntimeImage("plain"), stages=(Stage(box, ("true",)),)),
            self.in_image(kit, images, box, "true", stages=(Stage(box, ()),)),
            self.in_image(kit, images, box, "true", stages=(Stage(box, ("true",), ("/elsewhere",)),)),
        ):
            with pytest.raises(LaunchRefused):
                kit.launch(request)
