"""Saving what runs as a container image: promised by drivers that are `SavingMixin`."""

from dataclasses import replace
from typing import Any

import pytest

from apps.workloads.drivers.base import DriverError, Handle, Phase, Reference
from apps.workloads.drivers.capabilities import SavingMixin
from apps.workloads.drivers.images import Making
from apps.workloads.drivers.said import Code
from tests.drivers.contract_images import ImagesContract
from tests.drivers.kit import Kit
from tests.drivers.registries import Registry, layer


class SavingContract(ImagesContract):
    """What a driver promises that saves them."""

    def saving(self, kit: Kit) -> Any:
        return kit.offers(SavingMixin)

    def kept_running(self, kit: Kit, images: Registry, image: Reference, script: str, **changes: Any) -> Handle:
        """Has done what the script says, and runs on."""
        handle = kit.launch(self.in_image(kit, images, image, "sh", "-c", f"{script}; echo done; sleep 600", **changes))
        kit.wait_output(handle, "done")
        return handle

    def test_what_was_changed_is_in_the_image_that_it_is_saved_as(self, kit: Kit, images: Registry) -> None:
        """Files, links, what was removed of the base, and nothing of what the platform put there."""
        driver = self.saving(kit)
        base = self.box(images, layer(("data/kept", b"of the base\n"), ("data/gone", b"x"), ("old/file", b"x")), A="b")
        script = (
            "echo new > /data/new; rm /data/gone; echo changed >> /data/kept; "
            "ln /data/new /data/hard; ln -s new /data/soft; "
            "rm -r /old; mkdir /old; echo x > /old/other; chmod 4755 /data/new; mkfifo /data/pipe; "
            "echo out > /workspace/output/file; echo tmp > /tmp/file"
        )
        handle = self.kept_running(kit, images, base, script)
        image = driver.save_image(handle)
        assert image.repository == base.repository
        assert image.digest != base.digest
        assert driver.save_image(handle) == image  # the same changes, the same digest
        look = (
            "cat /data/new /data/kept /data/hard; ls /data /old; readlink /data/soft; stat -c %a /data/new; "
            "ls /tmp; ls /opt /home 2>&1 | head -4"
        )
        ended, told = kit.run(self.in_image(kit, images, image, "sh", "-c", look))
        assert ended.succeeded, (ended, told)
        assert told.startswith(
            "new\nof the base\nchanged\nnew\n/data:\nhard\nkept\nnew\nsoft\n\n/old:\nother\nnew\n755\n"
        ), told
        assert "file\n" not in told.partition("755")[2]
        kit.driver.stop(handle, 0)
        kit.wait_exit(handle)

    def test_it_says_of_itself_what_it_is_told_to(self, kit: Kit, images: Registry) -> None:
        """Beside what its base says; with no other files, too."""
        driver = self.saving(kit)
        base = self.box(images, Env=["PATH=/bin", "KIND=box"], Cmd=["echo", "of the base"], WorkingDir="/bin")
        making = Making(
            {"Cmd": ["sh", "-c", "echo $KIND $WHO $PATH; pwd"]}, {"WHO": "me", "PATH": "/x:${PATH}"}, ("A",)
        )
        handle = self.kept_running(kit, images, base, "true")
        image = driver.save_image(handle, making)
        assert image == driver.save_image(handle, making)
        _, told = kit.run(self.in_image(kit, images, image, workdir=""))
        assert told == "box me /x:/bin\n/bin\n"

    def test_a_build_changes_accounts_and_writes_below_run(self, kit: Kit, images: Registry) -> None:
        driver = self.saving(kit)
        base = self.box(images, layer(("etc/passwd", b"root:x:0:0::/:/bin/sh\n")))
        script = "echo me:x:1000:1000::/:/bin/sh >> /etc/passwd; echo x > /run/own; cat /run/own; cat /etc/passwd"
        handle = self.kept_running(kit, images, base, script, builds=True)
        assert "x\nroot:x:0:0::/:/bin/sh\nme:x:1000" in kit.driver.logs(handle, 0, 65536).data.decode()
        _, told = kit.run(self.in_image(kit, images, driver.save_image(handle), "sh", "-c", "cat /etc/passwd; ls /run"))
        assert "me:x:1000" in told
        assert "own" not in told
        plain = kit.launch(self.in_image(kit, images, base, "sh", "-c", "echo x >> /etc/passwd || echo x > /run/own"))
        assert not kit.wait_exit(plain).succeeded  # any other run may change neither

    def test_an_image_that_was_saved_is_saved_again(self, kit: Kit, images: Registry) -> None:
        driver = self.saving(kit)
        first = driver.save_image(self.kept_running(kit, images, self.box(images), "echo 1 > /one"))
        handle = self.kept_running(kit, images, first, "echo 2 > /two")
        second = driver.save_image(handle)
        _, told = kit.run(self.in_image(kit, images, second, "cat", "/one", "/two"))
        assert told == "1\n2\n"

    def test_what_cannot_be_saved_is_said(self, kit: Kit, images: Registry) -> None:
        driver = self.saving(kit)
        image = self.box(images)

        def said(script: str, **changes: Any) -> Code:
            handle = self.kept_running(kit, images, image, script, **changes)
            with pytest.raises(DriverError) as refusal:
                driver.save_image(handle)
            kit.driver.stop(handle, 0)
            kit.wait_exit(handle)
            with pytest.raises(DriverError):
                driver.save_image(handle)  # it has ended, and nothing is left of it
            return refusal.value.said.code

        assert said("true") is Code.NOTHING_CHANGED
        assert said("touch /.wh.bin") is Code.FILE_NOT_SAVED
        small = replace(images.rules, most_mib=8)
        assert said("head -c 9000000 /dev/zero > /large", pull=small) is Code.CHANGES_TOO_LARGE
        few = replace(images.rules, most_files=100)
        assert said("for n in $(seq 120); do touch /$n; done", pull=few) is Code.IMAGE_TOO_MANY_FILES
        runtime = kit.launch(kit.request("sleep", "600"))
        kit.wait(runtime, lambda seen: seen.phase is Phase.RUNNING)
        with pytest.raises(DriverError) as refusal:
            driver.save_image(runtime)
        assert refusal.value.said.code is Code.ROOT_NOT_KEPT
