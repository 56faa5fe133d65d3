"""Environments in container images: what they are made of, and what the image's own Python is good for."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.envs import program
from apps.envs.models import Environment
from apps.envs.services import changing, images, tools
from apps.registry import selectors as registry_selectors
from apps.registry import services as registry
from apps.registry.models import Image
from apps.workloads import reach
from apps.workloads.drivers.base import DriverError, Handle, IsolationLevel, RuntimeImage
from apps.workloads.drivers.local import processes
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.request import MACHINE_PYTHON
from apps.workloads.drivers.said import Code, Said
from apps.workloads.references import Reference
from tests.builders import World, platform
from tests.drivers import host_images
from tests.drivers.conftest import obstacle
from tests.drivers.kit import VOLUMES, Kit, eventually
from tests.drivers.registries import BUSYBOX, Registry, busybox, layer
from tests.drivers.registries import registry as registry_of
from tests.envs import kit

REFERENCE = f"registry.lab:5000/team/torch@sha256:{'a' * 64}"
SAVED = Reference("registry.lab:5000/team/torch", f"sha256:{'b' * 64}")


@pytest.fixture
def container(world: World) -> Image:
    with acting(platform()):
        found: Image = Image.objects.create(
            key="box", name="Box", description_en="A box", description_zh="盒子", reference=REFERENCE
        )
    return found


@pytest.mark.django_db
class TestChoosing:
    def test_one_is_begun_in_a_container_image(self, world: World, container: Image) -> None:
        made = kit.make(world, image_id=container.pk)
        assert made.workload is not None
        spec = made.workload.frozen_spec
        assert spec.image == Reference.parse(REFERENCE)
        assert spec.argv == (MACHINE_PYTHON, "-E", "-s", "-S", "/opt/plstack/supervise.py")
        assert spec.env["PLSTACK_CONTAINER_IMAGE"] == "1"
        assert [tool.name for tool in spec.tools] == ["jupyterlab", "tensorboard"]

    def test_a_runtime_is_begun_as_before(self, world: World) -> None:
        made = kit.make(world)
        assert made.workload is not None
        assert made.workload.frozen_spec.argv == ("python", "/opt/plstack/supervise.py")
        assert "PLSTACK_CONTAINER_IMAGE" not in made.workload.frozen_spec.env

    def test_vs_code_is_refused_before_anything_is_made(self, world: World, container: Image) -> None:
        with pytest.raises(Invalid, match="VS Code") as refusal:
            kit.make(world, image_id=container.pk, vscode=True)
        assert list(refusal.value.fields) == ["vscode"]
        made = kit.make(world, image_id=container.pk, start=False)
        with acting(world.actor), pytest.raises(Invalid, match="VS Code"):
            changing.change(world.actor, made, changing.Change(vscode=True))
        runtime = kit.make(world, vscode=True, start=False)
        with acting(world.actor), pytest.raises(Invalid, match="VS Code"):
            changing.change(world.actor, runtime, changing.Change(image_id=container.pk))

    def test_the_form_offers_it(self, alice: Client, container: Image) -> None:
        assert f'value="{container.pk}"' in kit.text(alice.get("/environments/new/"))

    @pytest.mark.parametrize(
        ("notebook", "words"),
        [
            ({"version": "", "kernel": False}, "There is no Python"),
            ({"version": "3.9", "kernel": False}, "pip install ipykernel"),
            ({"version": "3.9", "kernel": True}, ""),
        ],
    )
    def test_the_page_says_what_notebooks_lack(
        self,
        alice: Client,
        world: World,
        container: Image,
        notebook: dict[str, Any],
        words: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        made = kit.running(kit.make(world, image_id=container.pk))
        monkeypatch.setattr(tools, "running", lambda *_each: {"notebook": notebook})
        page = kit.text(alice.get(f"/environments/{made.pk}/"))
        assert ("pl-no-kernel" in page) is bool(words)
        assert words in page


@pytest.mark.django_db
class TestSaving:
    @pytest.fixture
    def made(self, world: World, container: Image, monkeypatch: pytest.MonkeyPatch) -> Environment:
        """One that runs, on a machine that saves it as the same image each time."""
        monkeypatch.setattr(images.reach, "save_image", lambda *_each: SAVED)
        return kit.running(kit.make(world, image_id=container.pk))

    def test_it_becomes_a_container_image_of_ones_own(
        self, made: Environment, world: World, container: Image, alice: Client, bob: Client
    ) -> None:
        alice.post(f"/environments/{made.pk}/do/image/", {"name": "mine"})
        with acting(world.actor):
            [mine] = registry_selectors.own_images(world.actor)
            assert (mine.name, mine.reference, mine.base, mine.requirements) == ("mine", SAVED.name, container, [])
            again = kit.make(world, image_id=mine.pk)
            assert again.workload is not None
            assert again.workload.frozen_spec.image == SAVED
        assert str(mine.pk) in kit.text(alice.get("/environments/new/"))
        assert str(mine.pk) not in kit.text(bob.get("/environments/new/"))

    def test_what_was_installed_in_the_home_is_not_looked_at(self, made: Environment, world: World) -> None:
        with acting(world.actor):
            assert images.save(world.actor, made, name="mine").requirements == []

    def test_only_while_it_runs(self, made: Environment, world: World, alice: Client) -> None:
        assert "image-name" in kit.text(alice.get(f"/environments/{made.pk}/ask/image/"))
        stopped = kit.stopped(made)
        with acting(world.actor), pytest.raises(Conflict, match="only while it runs"):
            images.save(world.actor, stopped, name="mine")
        assert "image-name" not in kit.text(alice.get(f"/environments/{made.pk}/ask/image/"))

    def test_a_bad_name_and_too_many_are_refused_before_the_machine_is_asked(
        self, made: Environment, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(registry, "MOST_CONTAINERS", 1)
        with acting(world.actor):
            images.save(world.actor, made, name="mine")
            monkeypatch.setattr(images.reach, "save_image", lambda *_each: pytest.fail("it was asked"))
            with pytest.raises(Invalid) as refusal:
                images.save(world.actor, made, name="-")
            assert list(refusal.value.fields) == ["name"]
            with pytest.raises(Conflict, match="already"):
                images.save(world.actor, made, name="second")

    def test_what_the_machine_says_is_told(
        self, made: Environment, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.undo()
        monkeypatch.setattr(reach, "_running", lambda *_each: (object(), None))
        with acting(world.actor), pytest.raises(Conflict, match="cannot save"):
            images.save(world.actor, made, name="mine")

        class Machine:
            def save_image(self, handle: Handle, making: object = None) -> Reference:
                raise DriverError(Said(Code.NOTHING_CHANGED))

        monkeypatch.setattr(reach, "_running", lambda *_each: (Machine(), None))
        with acting(world.actor), pytest.raises(Conflict, match="Nothing was changed in its image yet"):
            images.save(world.actor, made, name="mine")
        with acting(world.actor):
            assert not registry_selectors.own_images(world.actor).exists()


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with registry_of(tmp_path_factory.mktemp("registry")) as found:
        yield found


@pytest.mark.programs
@pytest.mark.skipif(BUSYBOX is None, reason="busybox-static is not installed")
class TestInside:
    """The environment's own programs in a sandbox, beside an empty runtime instead of JupyterLab's."""

    @pytest.fixture
    def machine(self, tmp_path: Path) -> Iterator[Kit]:
        if obstacle():
            pytest.skip(obstacle())
        for name in ("home", "code", "output"):
            (tmp_path / name).mkdir()
        driver = LocalDriver(tmp_path / "driver", IsolationLevel.L1, volumes=VOLUMES)
        yield Kit(driver, tmp_path / "home", tmp_path)
        for ref in driver.known():
            processes.end_marked(MARKER, ref, 5)

    def begin(self, machine: Kit, pushed: Registry, image: Reference, **env: str) -> Handle:
        environment = {"HOME": program.HOME, "PLSTACK_CONTAINER_IMAGE": "1", "PLSTACK_IMAGE_NAME": "Box", **env}
        return machine.launch(
            machine.request(
                *(MACHINE_PYTHON, "-E", "-s", "-S", f"{program.INSIDE}/supervise.py"),
                image=image,
                pull=pushed.rules,
                env=environment,
                mounts=(
                    machine.mount(machine.code, program.HOME, read_only=False),
                    machine.mount(program.CODE, program.INSIDE),
                ),
                workdir=program.HOME,
                tools=(RuntimeImage("jupyterlab"),),
                ports=(8800,),
            )
        )

    def notebook(self, machine: Kit, handle: Handle) -> Any:
        def ask() -> Any:
            with machine.connect(handle, 8800) as connection:
                connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
                told = b""
                while piece := connection.recv(65536):
                    told += piece
            return json.loads(told.partition(b"\r\n\r\n")[2] or b"{}")

        return eventually(ask, lambda found: "jupyter" in found)["notebook"]

    def test_in_an_image_without_python_it_starts_and_says_so(self, machine: Kit, pushed: Registry) -> None:
        handle = self.begin(machine, pushed, pushed.image(busybox("sh", "cat"), Env=["PATH=/bin"]))
        assert self.notebook(machine, handle) == {"version": "", "kernel": False}
        machine.driver.stop(handle, 5)
        machine.wait_exit(handle)
        assert (machine.code / ".bashrc").exists()
        assert not (machine.code / ".venv").exists()

    @pytest.mark.skipif(not host_images.has_python(), reason="there is no Python in /usr/bin")
    def test_what_is_installed_stays_in_the_home_for_the_images_own_python(
        self, machine: Kit, pushed: Registry
    ) -> None:
        own = layer(("opt/lib/ipykernel/__init__.py", b""), ("opt/lib/ipykernel/kernelapp.py", b""))
        image = pushed.image(busybox("sh", "cat"), host_images.python_layer(), own, Env=["PATH=/usr/bin:/bin"])
        handle = self.begin(machine, pushed, image)
        about = self.notebook(machine, handle)
        assert about["version"].startswith("3.")
        assert about["kernel"] is False
        stream = machine.driver.exec(
            handle, [f"{program.HOME}/.venv/bin/python", "-c", "import sys; print(sys.prefix)"]
        )
        assert stream.read().startswith(f"{program.HOME}/.venv".encode())
        stream.close()
        machine.driver.stop(handle, 5)
        machine.wait_exit(handle)
        (machine.code / ".venv/mine").write_text("kept")
        again = self.begin(machine, pushed, image, PYTHONPATH="/opt/lib")
        assert self.notebook(machine, again) == {**about, "kernel": True}
        machine.driver.stop(again, 5)
        machine.wait_exit(again)
        assert (machine.code / ".venv/mine").read_text() == "kept"
