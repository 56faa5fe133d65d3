"""Container images by reference: promised by drivers that are `ReferencesMixin` on a level that isolates."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.workloads.drivers.base import (
    ExitReason,
    IsolationLevel,
    LaunchRefused,
    LaunchRequest,
    Phase,
    Reference,
    RuntimeImage,
    RuntimeKind,
)
from apps.workloads.drivers.capabilities import IsolationMixin, ReferencesMixin
from apps.workloads.drivers.local.oci.interpreter import interpreter, mapped_files
from apps.workloads.drivers.request import MACHINE_PYTHON
from apps.workloads.drivers.said import Code
from tests.drivers.kit import NODE, Kit
from tests.drivers.registries import BUSYBOX, Registry, busybox, entry, layer, registry

APPLETS = ("sh", "cat", "ls", "id", "touch", "mkdir", "sleep", "env", "pwd", "stat", "rm", "echo", "grep",
           "ln", "chmod", "mkfifo", "readlink", "head", "seq")  # fmt: skip


@pytest.fixture(scope="session")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with registry(tmp_path_factory.mktemp("registry")) as found:
        yield found


class ImagesContract:
    """What a driver of container images promises."""

    @pytest.fixture
    def images(self, kit: Kit, pushed: Registry) -> Registry:
        driver = kit.offers(ReferencesMixin)
        if not isinstance(driver, IsolationMixin) or driver.isolation(NODE).level is not IsolationLevel.L1:
            pytest.skip("container images need a level that isolates")
        if BUSYBOX is None:
            pytest.skip("busybox-static is not installed")
        return pushed

    def in_image(self, kit: Kit, images: Registry, image: Reference, *argv: str, **changes: Any) -> LaunchRequest:
        return kit.request(*argv, **{"image": image, "pull": images.rules, **changes})

    def box(self, images: Registry, *layers: bytes, **config: Any) -> Reference:
        return images.image(busybox(*APPLETS), *layers, **config)

    def test_a_program_runs_in_an_image_without_python(self, kit: Kit, images: Registry) -> None:
        image = self.box(images, layer(("etc/os-release", b"NAME=box\n")), Env=["GREETING=hello", "PATH=/bin"])
        script = "echo $GREETING $PWD; cat /etc/os-release; ls -d /usr /root 2>&1; cat /workspace/code/in"
        (kit.code / "in").write_text("from the mount\n")
        handle = kit.launch(self.in_image(kit, images, image, "sh", "-c", script))
        seen = kit.wait(handle)
        assert seen.exit is not None
        told = kit.text(handle)
        assert "hello /workspace/code\nNAME=box\n" in told, kit.log(handle)
        assert "ls: /usr: No such file" in told
        assert told.endswith("from the mount\n")
        assert [step.name for step in seen.steps] == [Phase.IMAGE, Phase.MOUNT]
        assert seen.ran_for_s is not None
        assert kit.driver.has_reference(image) in (True, False)

    def test_what_one_run_writes_no_other_one_sees(self, kit: Kit, images: Registry) -> None:
        image = self.box(images, layer(("data/kept", b"of the image\n")))
        first = "echo changed > /data/kept && touch /data/new /bin/own && rm /bin/grep && cat /data/kept"
        ended, told = kit.run(self.in_image(kit, images, image, "sh", "-c", first))
        if not ended.succeeded:
            assert "Read-only" in told or "Permission" in told
        second = "cat /data/kept; ls /data /bin/grep /bin/own 2>&1"
        _, told = kit.run(self.in_image(kit, images, image, "sh", "-c", second))
        assert told.startswith("of the image\nls: /bin/own: No such file")
        assert "/bin/grep" in told
        assert "new" not in told

    def test_its_files_and_processes_belong_to_the_tenant(self, kit: Kit, images: Registry) -> None:
        image = self.box(images, layer(entry("home", mode=0o700, type=b"5", uid=7, gid=7)), User="root")
        script = "id -u; echo x > /workspace/output/made; grep -E 'Cap(Eff|Bnd)|NoNew' /proc/self/status"
        ended, told = kit.run(self.in_image(kit, images, image, "sh", "-c", script))
        assert ended.succeeded, told
        uid = int(told.splitlines()[0])
        assert uid != 0 or kit.output.stat().st_uid == 0
        assert (kit.output / "made").stat().st_uid == kit.output.stat().st_uid
        assert "CapEff:\t0000000000000000" in told
        assert "NoNewPrivs:\t1" in told

    def test_neither_the_machine_nor_the_platform_can_be_seen(self, kit: Kit, images: Registry) -> None:
        script = (
            "ls / /run /run/plstack; ls /run/plstack/python; cat /proc/1/environ /proc/1/maps; "
            "ls /proc/1/root /proc/1/cwd; cat /proc/kallsyms /proc/cmdline | grep -c .; "
            "for path in /run /sys /dev /etc/passwd /run/plstack/lib; do touch $path/x; echo x > $path; done"
        )
        ended, told = kit.run(self.in_image(kit, images, self.box(images), "sh", "-c", script + " 2>&1; true"))
        assert ended.succeeded, told
        for word in (str(kit.code), "runs/", "PLSTACK_DATABASE", "images/"):
            assert word not in told
        assert "0\n" in told
        assert told.count("Read-only file system") + told.count("Permission denied") >= 4, told

    def test_a_python_of_the_image_is_the_one_that_runs(self, kit: Kit, images: Registry) -> None:
        """A program that needs a loader, C library and standard library of the image's own."""
        image = images.image(busybox(*APPLETS), host_python())
        ended, told = kit.run(
            self.in_image(kit, images, image, "/opt/python", "-c", "import json; print(json.dumps([1]))")
        )
        assert (ended.succeeded, told) == (True, "[1]\n"), ended

    def test_the_machines_python_and_tools_stand_beside_an_image_that_has_nothing(
        self, kit: Kit, images: Registry
    ) -> None:
        source = (
            "import ctypes, json, os, subprocess, sys; tool = os.environ['PLSTACK_TOOL_BESIDE']; "
            "print(os.path.isfile(tool + '/pyvenv.cfg'), os.access(tool, os.W_OK), sys.version_info[0], "
            "subprocess.check_output(['cat', '/etc/os-release']).decode().strip())"
        )
        image = self.box(images, layer(("etc/os-release", b"NAME=box\n")))
        request = self.in_image(kit, images, image, MACHINE_PYTHON, "-S", "-c", source, tools=(RuntimeImage("beside"),))
        ended, told = kit.run(request)
        assert (ended.succeeded, told) == (True, "True False 3 NAME=box\n"), ended

    def test_of_the_machine_the_tools_show_nothing_else(self, kit: Kit, images: Registry) -> None:
        """The suite of the level: no file of the platform's, no other user, no privilege, as in every image."""
        tools = "/run/plstack/tools"
        script = f"ls {tools}; touch {tools}/beside/x {tools}/x; grep NoNew /proc/self/status"
        source = f"import os; os.execvp('sh', ['sh', '-c', {script + ' 2>&1'!r}])"
        request = self.in_image(
            kit, images, self.box(images), MACHINE_PYTHON, "-S", "-c", source, tools=(RuntimeImage("beside"),)
        )
        ended, told = kit.run(request)
        assert ended.succeeded, told
        assert told.startswith("beside\n")
        assert told.count("Read-only file system") == 2, told
        assert "NoNewPrivs:\t1" in told
        assert str(kit.code) not in told

    def test_an_image_without_a_shell_is_refused_for_what_needs_one(self, kit: Kit, images: Registry) -> None:
        """Nothing was charged: its own process never ran."""
        image = images.image(layer(("data/file", b"x")))
        seen = kit.wait(kit.launch(self.in_image(kit, images, image, MACHINE_PYTHON, "-c", "print(1)")))
        assert seen.exit is not None
        assert seen.exit.said is not None
        assert (seen.exit.said.code, seen.ran_for_s) == (Code.NO_SHELL_IN_IMAGE, None)

    def test_tools_that_need_a_system_are_refused(self, kit: Kit, images: Registry) -> None:
        tools = (RuntimeImage("code-server", ("code-server@4.139.1",), RuntimeKind.NODE),)
        request = self.in_image(kit, images, self.box(images), "true", tools=tools)
        with pytest.raises(LaunchRefused) as refusal:
            kit.launch(request)
        assert refusal.value.code == "image_unsupported"

    def test_entry_point_and_folder_are_the_images_where_the_request_names_none(
        self, kit: Kit, images: Registry
    ) -> None:
        image = self.box(
            images,
            layer(("app/x", b"")),
            Entrypoint=["/bin/sh", "-c"],
            Cmd=["pwd; echo $A"],
            WorkingDir="/app",
            Env=["A=b"],
        )
        ended, told = kit.run(self.in_image(kit, images, image, workdir=""))
        assert (ended.succeeded, told) == (True, "/app\nb\n"), ended

    def test_exec_ports_and_stop_work_as_in_a_runtime(self, kit: Kit, images: Registry) -> None:
        image = self.box(images)
        handle = kit.launch(self.in_image(kit, images, image, "sh", "-c", "echo up; sleep 600"))
        kit.wait_output(handle, "up")
        stream = kit.driver.exec(handle, ["sh", "-c", "echo inside; exit 3"])
        try:
            data = b""
            while piece := stream.read():
                data += piece
            assert (data, stream.wait(60)) == (b"inside\n", 3)
        finally:
            stream.close()
        kit.driver.stop(handle, 5)
        assert kit.wait_exit(handle).reason is ExitReason.STOPPED

    @pytest.mark.parametrize(
        ("program", "code"), [("bash", Code.NO_SHELL_IN_IMAGE), ("/opt/no-such-program", Code.NOT_IN_IMAGE)]
    )
    def test_a_program_that_the_image_lacks_is_named(
        self, kit: Kit, images: Registry, program: str, code: Code
    ) -> None:
        handle = kit.launch(self.in_image(kit, images, self.box(images), program, "-c", "true"))
        seen = kit.wait(handle)
        assert seen.exit is not None
        assert seen.exit.reason is ExitReason.IMAGE_FAILED
        assert seen.exit.said is not None
        assert seen.exit.said.code is code
        assert seen.ran_for_s is None

    def test_an_image_that_is_not_there_never_runs(self, kit: Kit, images: Registry) -> None:
        missing = Reference(f"{images.host}/team/box", f"sha256:{'0' * 64}")
        seen = kit.wait(kit.launch(self.in_image(kit, images, missing, "true")))
        assert seen.exit is not None
        assert seen.exit.said is not None
        assert seen.exit.said.code is Code.IMAGE_NOT_THERE
        assert seen.ran_for_s is None

    @pytest.mark.parametrize("name", ["workspace", "workspace/code"])
    def test_a_link_in_the_image_leads_no_mount_astray(
        self, kit: Kit, images: Registry, name: str, tmp_path: Path
    ) -> None:
        target = tmp_path / "elsewhere"
        target.mkdir()
        image = self.box(images, layer(entry(name, b"2", str(target))))
        seen = kit.wait(kit.launch(self.in_image(kit, images, image, "ls")))
        assert seen.exit is not None
        assert seen.exit.said is not None
        assert seen.exit.said.code is Code.MOUNT_THROUGH_IMAGE
        assert list(target.iterdir()) == []

    def test_links_where_the_platform_mounts_are_replaced(self, kit: Kit, images: Registry, tmp_path: Path) -> None:
        target = tmp_path / "elsewhere"
        target.mkdir()
        links = [entry(name, b"2", str(target)) for name in ("etc", "run", "tmp", "proc", "dev", "sys")]
        ended, told = kit.run(self.in_image(kit, images, self.box(images, layer(*links)), "sh", "-c", "cat /etc/hosts"))
        assert ended.succeeded, ended
        assert "localhost" in told
        assert list(target.iterdir()) == []

    def test_without_isolation_they_are_refused(self, kit: Kit, pushed: Registry) -> None:
        driver = kit.offers(ReferencesMixin)
        if not isinstance(driver, IsolationMixin) or driver.isolation(NODE).level is IsolationLevel.L1:
            pytest.skip("this level runs them")
        image = Reference(f"{pushed.host}/team/box", f"sha256:{'0' * 64}")
        request = self.in_image(kit, pushed, image, "true")
        with pytest.raises(LaunchRefused) as refusal:
            kit.launch(request)
        assert refusal.value.code == "image_unsupported"
        assert not kit.is_recorded(str(request.attempt_id))


def host_python() -> bytes:
    """The machine's Python with its libraries, each where it expects the other."""
    found = interpreter()
    libraries = {Path(path).name.partition(".so")[0] for path in mapped_files()}
    entries: list[Any] = []
    inside = "opt/host"
    for mount in found.mounts:
        source, place = Path(mount.source), f"{inside}{mount.target}"
        if source.is_file():
            entries.append((place, source.read_bytes()))
            continue
        if "libraries" in mount.target:
            # Their own names and those by which they are asked for: libz.so.1 beside libz.so.1.2.13.
            alike = [path for path in source.glob("*.so*") if path.name.partition(".so")[0] in libraries]
            entries += [(f"{place}/{path.name}", path.read_bytes()) for path in alike if path.is_file()]
            continue
        entries += [(f"{place}/{path.relative_to(source)}", path.read_bytes())
                    for path in source.rglob("*") if path.is_file() and wanted(path.relative_to(source))]  # fmt: skip
    words = " ".join(f"/{inside}{word}" if word.startswith("/run/") else word for word in found.argv)
    words = words.replace(":/run/", f":/{inside}/run/")
    return layer(*entries, ("opt/python", f'#!/bin/sh\nexec {words} -I -S "$@"\n'.encode()))


def wanted(path: Path) -> bool:
    """What starting Python and importing json needs."""
    is_source = path.suffix == ".py" and path.parts[0] in {"json", "encodings", "collections", "re", path.name}
    return is_source or "_json" in path.name
