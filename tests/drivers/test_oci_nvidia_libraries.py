"""NVIDIA's libraries in container images on a machine without a CDI file."""

from pathlib import Path

import pytest

from apps.clusters import nvidia
from apps.workloads.drivers.base import DeviceGrant, IsolationLevel
from apps.workloads.drivers.local.oci import cdi, nvidia_libraries
from apps.workloads.drivers.local.oci.edits import Edits
from tests.drivers.conftest import MakeKit, control_groups_work
from tests.drivers.contract_images import APPLETS
from tests.drivers.contract_images import pushed as pushed
from tests.drivers.kit import Kit
from tests.drivers.registries import BUSYBOX, Registry, busybox

CARD = DeviceGrant("GPU-1", 0, "nvidia", "H100", 81_559, 100, "whole")
VERSION = "580.159.04"
FOLDER = "usr/local/nvidia/lib64"
# As the driver's own installer lays them out: the file, and links to it.
LAID_OUT = {
    f"libcuda.so.{VERSION}": "",
    "libcuda.so.1": f"libcuda.so.{VERSION}",
    "libcuda.so": "libcuda.so.1",
    f"libnvidia-ml.so.{VERSION}": "",
    "libnvidia-ml.so.1": f"libnvidia-ml.so.{VERSION}",
    f"libnvidia-nvvm.so.{VERSION}": "",
    "libnvidia-nvvm.so.4": f"libnvidia-nvvm.so.{VERSION}",
    "libnvidia-ptxjitcompiler.so.575.1": "",  # left by an earlier driver
    f"libGLX_nvidia.so.{VERSION}": "",
    f"libnvidia-eglcore.so.{VERSION}": "",
    "libcudart.so.13": "",
}
WANTED = ["libcuda.so", "libcuda.so.1", f"libcuda.so.{VERSION}", "libnvidia-ml.so.1", f"libnvidia-ml.so.{VERSION}",
          "libnvidia-nvvm.so.4", f"libnvidia-nvvm.so.{VERSION}"]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    for name, target in LAID_OUT.items():
        if target:
            (folder / name).symlink_to(target)
        else:
            (folder / name).write_text(f"{name}\n")
    program = tmp_path / "usr/bin/nvidia-smi"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path


def test_the_libraries_of_the_running_driver_by_all_of_their_names(root: Path) -> None:
    found = {inside: source for source, inside in nvidia_libraries.mounts(VERSION, root)}
    assert sorted(found) == sorted(["/usr/bin/nvidia-smi", *(f"/usr/local/nvidia/lib64/{name}" for name in WANTED)])
    assert found["/usr/local/nvidia/lib64/libcuda.so.1"] == root / FOLDER / f"libcuda.so.{VERSION}"
    assert not [path for path in found.values() if path.is_symlink()]


@pytest.mark.parametrize("version", ["575.1", "none", ""])
def test_nothing_where_the_running_drivers_libcuda_is_not_found(root: Path, version: str) -> None:
    assert nvidia_libraries.mounts(version, root) == []


def test_a_file_of_the_container_device_interface_comes_first(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvidia, "driver_versions", lambda: {"nvidia-driver": VERSION})
    monkeypatch.setattr(nvidia_libraries.mounts, "__defaults__", (root,))
    found = cdi.edits([CARD], [tmp_path / "none"])
    assert dict(found.env) == {"LD_LIBRARY_PATH": "/usr/local/nvidia/lib64"}
    assert len(found.mounts) == len(WANTED) + 1
    (tmp_path / "nvidia.yaml").write_text("kind: nvidia.com/gpu\ncontainerEdits: {env: [FROM_FILE=1]}\n")
    assert cdi.edits([CARD], [tmp_path]) == Edits(env=(("FROM_FILE", "1"),))


def test_an_image_without_any_of_them_finds_them(
    make_kit: MakeKit, pushed: Registry, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if BUSYBOX is None:
        pytest.skip("busybox-static is not installed")
    kit: Kit = make_kit(IsolationLevel.L1, control_groups_work())
    monkeypatch.setattr(nvidia, "driver_versions", lambda: {"nvidia-driver": VERSION})
    monkeypatch.setattr(nvidia_libraries.mounts, "__defaults__", (root,))
    monkeypatch.setattr(cdi.edits, "__defaults__", ((),))
    script = 'cat "$LD_LIBRARY_PATH/libcuda.so.1" "$LD_LIBRARY_PATH/libnvidia-nvvm.so.4"; test -x /usr/bin/nvidia-smi'
    image = pushed.image(busybox(*APPLETS))
    ended, told = kit.run(kit.request("sh", "-c", script, image=image, pull=pushed.rules, devices=(CARD,)))
    assert told == f"libcuda.so.{VERSION}\nlibnvidia-nvvm.so.{VERSION}\n"
    assert ended.succeeded
