"""What a CDI file says of a driver's libraries, tried with one that is made up: no card was there."""

from pathlib import Path

import pytest

from apps.workloads.drivers.base import DeviceGrant, IsolationLevel
from apps.workloads.drivers.local.oci import cdi
from apps.workloads.drivers.local.oci.edits import Edits
from tests.drivers.conftest import MakeKit, control_groups_work
from tests.drivers.contract_images import APPLETS
from tests.drivers.contract_images import pushed as pushed
from tests.drivers.kit import Kit
from tests.drivers.registries import BUSYBOX, Registry, busybox, entry, layer

CARD = DeviceGrant("GPU-1", 0, "nvidia", "A100", 40960, 100, "whole")
OTHER = "GPU-2"


def written(folder: Path, library: Path) -> Path:
    cdi_folder = folder / "cdi"
    cdi_folder.mkdir()
    (cdi_folder / "nvidia.yaml").write_text(f"""
cdiVersion: 0.5.0
kind: nvidia.com/gpu
containerEdits:
  env:
    - NVIDIA_VISIBLE_DEVICES=void
    - MADE_UP=yes
  mounts:
    - hostPath: {library}
      containerPath: /usr/lib64/libcuda.so.1
      options: [ro, nosuid, nodev, bind]
    - hostPath: {library}
      containerPath: /usr/../../escape.so
    - hostPath: /no/such/libcuda.so.2
      containerPath: /usr/lib64/libcuda.so.2
  hooks:
    - hookName: createContainer
      path: /usr/bin/nvidia-ctk
      args: [nvidia-ctk, hook, create-symlinks, --link, "libcuda.so.1::/usr/lib64/libcuda.so"]
devices:
  - name: "GPU-1"
    containerEdits:
      env: [MINE=1]
  - name: "{OTHER}"
    containerEdits:
      env: [OTHERS=1]
""")
    (cdi_folder / "broken.yaml").write_text("kind: [")
    (cdi_folder / "vendor.json").write_text('{"kind": "vendor.com/card", "containerEdits": {"env": ["VENDOR=1"]}}')
    return cdi_folder


def test_what_the_file_says_for_the_cards_that_were_granted(tmp_path: Path) -> None:
    folder = written(tmp_path, tmp_path / "libcuda")
    found = cdi.edits([CARD], [tmp_path / "none", folder])
    assert dict(found.env) == {
        "NVIDIA_VISIBLE_DEVICES": "void", "MADE_UP": "yes", "MINE": "1", "LD_LIBRARY_PATH": "/usr/lib64",
    }  # fmt: skip
    assert [inside for _, inside in found.mounts] == ["/usr/lib64/libcuda.so.1", "/usr/lib64/libcuda.so.2"]
    assert found.links == (("/usr/lib64/libcuda.so", "libcuda.so.1"),)
    assert cdi.edits([], [folder]) == Edits()


def test_an_image_finds_the_machines_libraries_where_its_own_links_lead(
    make_kit: MakeKit, pushed: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if BUSYBOX is None:
        pytest.skip("busybox-static is not installed")
    kit: Kit = make_kit(IsolationLevel.L1, control_groups_work())
    library = tmp_path / "libcuda"
    library.write_text("the library\n")
    tmp_path.chmod(0o755)
    monkeypatch.setattr(cdi, "FOLDERS", (written(tmp_path, library),))
    monkeypatch.setattr(cdi.edits, "__defaults__", (cdi.FOLDERS,))
    image = pushed.image(busybox(*APPLETS), layer(entry("usr/lib", b"5"), entry("usr/lib64", b"2", "/usr/lib")))
    script = "cat /usr/lib/libcuda.so.1 /usr/lib64/libcuda.so; echo $MADE_UP $LD_LIBRARY_PATH $NVIDIA_VISIBLE_DEVICES"
    request = kit.request("sh", "-c", script, image=image, pull=pushed.rules, devices=(CARD,))
    ended, told = kit.run(request)
    assert (ended.succeeded, told) == (True, "the library\nthe library\nyes /usr/lib64 GPU-1\n"), ended
