"""InfiniBand adapters in a real sandbox: a made-up tree of sysfs, and character devices that the test makes.

No machine with such an adapter has run this. The device nodes stand for uverbs and answer as /dev/null does.
"""

import json
import os
import resource
import stat
from pathlib import Path

import pytest

from apps.workloads.drivers.base import DriverError, IsolationLevel, LaunchRefused
from apps.workloads.drivers.errors import LINK_DOWN
from apps.workloads.drivers.local import rdma
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.records import RunSpec, decode_spec, encode_spec
from tests.drivers.conftest import MakeKit
from tests.drivers.kit import VOLUMES, Kit

NULL = os.makedev(1, 3)
LOOK = """
import json, os, resource
found = sorted(os.listdir('/dev/infiniband')) if os.path.isdir('/dev/infiniband') else None
for name in found or ():
    with open(f'/dev/infiniband/{name}', 'r+b', buffering=0) as node:
        node.write(b'x')
print(json.dumps([found, os.environ.get('NCCL_IB_HCA'), os.environ.get('UCX_NET_DEVICES'),
                  resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]]))
"""


def make_adapter(system: Path, name: str, number: int, state: str = "ACTIVE") -> Path:
    """Its folder of sysfs; the file of its port's state can be written anew."""
    port = system / f"sys/class/infiniband/{name}/ports/1"
    port.mkdir(parents=True)
    for file, text in (("state", f"4: {state}"), ("link_layer", "InfiniBand"), ("rate", "400 Gb/sec (4X NDR)")):
        (port / file).write_text(f"{text}\n")
    verbs = system / f"sys/class/infiniband_verbs/uverbs{number}"
    verbs.mkdir(parents=True)
    (verbs / "ibdev").write_text(f"{name}\n")
    return port / "state"


def make_node(system: Path, name: str) -> None:
    folder = system / "dev/infiniband"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        os.mknod(folder / name, 0o666 | stat.S_IFCHR, NULL)
        (folder / name).chmod(0o666)
        (folder / name).read_bytes()
    except PermissionError:
        pytest.skip("device nodes cannot be made here")


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """Two adapters, the second one's link down, and the device through which connections are made."""
    found = tmp_path / "system"
    make_adapter(found, "mlx5_0", 0)
    make_adapter(found, "mlx5_1", 1, "DOWN")
    for name in ("uverbs0", "uverbs1", "rdma_cm"):
        make_node(found, name)
    return found


@pytest.fixture
def wired(make_kit: MakeKit, home: Path, system: Path) -> Kit:
    kit = make_kit(IsolationLevel.L1, False)
    kit.driver = LocalDriver(home, IsolationLevel.L1, False, volumes=VOLUMES, system=system)
    return kit


def test_who_asks_is_given_the_adapters_whose_link_is_up_and_nobody_else_any(wired: Kit) -> None:
    ended, text = wired.run(wired.python(LOOK, rdma=True))
    assert ended.succeeded, text
    nodes, nccl, ucx, locked = json.loads(text)
    assert nodes == ["rdma_cm", "uverbs0"]
    assert (nccl, ucx) == ("=mlx5_0:1", "mlx5_0:1")
    assert locked in (resource.RLIM_INFINITY, resource.getrlimit(resource.RLIMIT_MEMLOCK)[1])
    ended, text = wired.run(wired.python(LOOK))
    assert ended.succeeded, text
    assert json.loads(text)[:3] == [None, None, None]


def test_a_link_that_went_down_sends_it_back_and_a_machine_without_adapters_refuses(system: Path) -> None:
    for state in system.glob("sys/class/infiniband/*/ports/1/state"):
        state.write_text("1: DOWN\n")
    with pytest.raises(LaunchRefused) as refusal:
        rdma.granted(system)
    assert refusal.value.code == LINK_DOWN
    with pytest.raises(LaunchRefused) as refusal:
        rdma.granted(system / "nothing")
    assert refusal.value.code == "no_rdma"


def test_a_device_node_that_is_missing_is_waited_for(system: Path) -> None:
    assert rdma.granted(system).ports == ("mlx5_0:1",)
    (system / "dev/infiniband/uverbs0").unlink()
    with pytest.raises(DriverError, match="/dev/infiniband/uverbs0") as error:
        rdma.granted(system)
    assert not isinstance(error.value, LaunchRefused)


def test_without_the_device_for_connections_the_others_are_given(system: Path) -> None:
    (system / "dev/infiniband/rdma_cm").unlink()
    assert [inside for _here, inside in rdma.granted(system).nodes] == ["/dev/infiniband/uverbs0"]


def test_the_record_of_a_run_keeps_what_was_given_and_an_older_one_has_none(wired: Kit, system: Path) -> None:
    spec = RunSpec(wired.request(rdma=True), IsolationLevel.L1, None, False, "/", rdma=rdma.granted(system))
    assert decode_spec(encode_spec(spec)) == spec
    plain = RunSpec(wired.request(), IsolationLevel.L1, None, False, "/")
    written = json.loads(encode_spec(plain))
    assert "rdma" not in written
    assert "rdma" not in written["request"]
    assert not decode_spec(encode_spec(plain)).rdma
