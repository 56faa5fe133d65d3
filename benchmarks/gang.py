"""What a gang costs: all-reduce over its network beside the host's, and how much later its ranks run than one would.

    python -m benchmarks.gang [--rounds N] [--runs N] [--ranks N ...] [--python PYTHON] [--json]

All-reduce: two processes sum arrays of 1, 16 and 64 MiB (`benchmarks/all_reduce.py`), over the network that the driver
makes for a gang, and over the host's, in turns; what counts is the median of the rounds' ratios (host's time over
ours; each round's time is the median of its sums). `one_machine`: the gang's own loopback beside the host's.
`two_machines`: network namespaces of this machine on a bridge, VXLAN between them beside the bare veth pairs, as far as
a kernel without a network card can show it. `--python`: an interpreter with PyTorch, for gloo in place of sockets.

Start: runs of one rank and of `--ranks` (two) are submitted to a copy of the platform by turns, the Python environment
prepared before; the machine must have room for them. From the submission until all ranks have left the barrier, by the
database's clock; what counts is the difference of the medians. It needs root. Exit status 1 when a goal is missed.
Other work on the machine makes figures worse, never better.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from apps.workloads.drivers.local import gang_network
from apps.workloads.drivers.overlay import INTERFACE, Overlay
from apps.workloads.drivers.request import Gang
from tests.drivers import machines
from tests.stack import Api, running, wait_for

GOALS = {"ratio": 0.9, "above_one_rank_s": 2.0}
SIZES = (1.0, 16.0, 64.0)
REPEATS = {1.0: 60, 16.0: 12, 64.0: 5}
WORKER = Path(__file__).with_name("all_reduce.py")
ROOT = Path(__file__).resolve().parents[1]
# Makes the network of a gang as the driver does, in the machine's own namespace.
JOIN = """
import sys
from pathlib import Path
from uuid import UUID
from apps.workloads.drivers.local import gang_network
from apps.workloads.drivers.overlay import Overlay
from apps.workloads.drivers.request import Gang
home, group, rank, number, *ways = sys.argv[1:]
gang = Gang(UUID(group), int(rank), tuple(ways), Overlay(int(number), tuple(ways)))
gang_network.join(Path(home), gang, f"rank{rank}")
"""


@dataclass(frozen=True, slots=True)
class Way:
    """How two ranks reach each other: the command in front of each, its address and its interface."""

    before: tuple[tuple[str, ...], tuple[str, ...]]
    addresses: tuple[str, str]
    interface: str

    def seconds(self, python: str, mib: float) -> float:
        """The median of the sums of one pair of processes."""
        meeting = f"{self.addresses[0]}:{_free_port()}"
        env = {**os.environ, "GLOO_SOCKET_IFNAME": self.interface, "OMP_NUM_THREADS": "1"}
        pair = [
            subprocess.Popen(
                [*self.before[rank], python, str(WORKER), str(rank), meeting, self.addresses[rank], str(mib),
                 str(REPEATS[mib])],
                env=env, stdout=subprocess.PIPE, text=True,
            )
            for rank in (0, 1)
        ]  # fmt: skip
        said = [process.communicate(timeout=120)[0] for process in pair]
        return max(float(statistics.median(json.loads(text.splitlines()[-1]))) for text in said)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def one_machine(home: Path, stack: ExitStack) -> tuple[Way, Way]:
    """(the gang's, the host's)"""
    gang = Gang(uuid4(), 0, ("here", "here"))
    network = gang_network.join(home, gang, "rank0")
    stack.callback(gang_network.leave, home, gang.group, "rank0")
    inside = ("nsenter", f"--net={network}", "--")
    first, second = gang_network.addresses(gang)
    return Way((inside, inside), (first, second), "lo"), Way(((), ()), (first, second), "lo")


def two_machines(home: Path, stack: ExitStack) -> tuple[Way, Way]:
    found = stack.enter_context(machines.machines(2))
    ways = (found[0][1], found[1][1])
    group, number = uuid4(), 1
    inside = []
    for rank, (namespace, _address) in enumerate(found):
        own = home / f"machine{rank}"
        own.mkdir()
        # Not by `ip netns exec`, in whose mounts the network's file would be.
        words = (str(own), str(group), str(rank), str(number), *ways)
        there = ("nsenter", f"--net=/run/netns/{namespace}", "--")
        subprocess.run([*there, sys.executable, "-c", JOIN, *words], cwd=ROOT, check=True)
        stack.callback(gang_network.leave, own, group, f"rank{rank}")
        inside.append(("nsenter", f"--net={own / 'gangs' / str(group) / 'net'}", "--"))
    first, second = gang_network.addresses(Gang(group, 0, ways, Overlay(number, ways)))
    bare = tuple(("ip", "netns", "exec", namespace) for namespace, _address in found)
    ours = Way((inside[0], inside[1]), (first, second), INTERFACE)
    return ours, Way((bare[0], bare[1]), ways, "eth0")


def compare(ours: Way, host: Way, python: str, rounds: int) -> dict[str, Any]:
    """By size in MiB: the median ratio, and both medians in milliseconds."""
    found = {}
    for mib in SIZES:
        pairs = []
        for turn in range(rounds):  # by turns, and either first
            order = (ours, host) if turn % 2 else (host, ours)
            took = {way: way.seconds(python, mib) for way in order}
            pairs.append((took[ours], took[host]))
        found[f"{mib:g}"] = {
            "ratio": round(statistics.median(theirs / own for own, theirs in pairs), 3),
            "ours_ms": round(statistics.median(own for own, _theirs in pairs) * 1000, 2),
            "host_ms": round(statistics.median(theirs for _own, theirs in pairs) * 1000, 2),
        }
    return found


def network(python: str, rounds: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, make in (("one_machine", one_machine), ("two_machines", two_machines)):
        with tempfile.TemporaryDirectory(prefix="plstack-gang-") as home, ExitStack() as stack:
            found[name] = compare(*make(Path(home), stack), python, rounds)
    return found


def starts(runs: int, ranks: Sequence[int]) -> dict[str, Any]:
    """Seconds from the submission until all ranks run, by how many there are."""
    sizes = (1, *ranks)
    took: dict[int, list[float]] = {size: [] for size in sizes}
    with running() as stack:
        api = Api(stack).sign_in()
        image = next(one["id"] for one in api.get("/images/")["results"] if one["key"] == "python")
        for turn in range(runs + 1):
            for size in sizes:
                seconds = _start(api, image, size)
                if turn:  # the first ones prepare the Python environment
                    took[size].append(seconds)
    medians = {str(size): round(statistics.median(found), 2) for size, found in took.items()}
    above = {str(size): round(medians[str(size)] - medians["1"], 2) for size in ranks}
    return {"seconds": medians, "above_one_rank": above}


def _start(api: Api, image: str, members: int) -> float:
    program = {"entry": "python", "script": "main.py", "text": "import time; time.sleep(600)\n"}
    body = {**program, "name": "gang", "image": image, "package": _smallest(api), "members": members}
    run = api.post("/training/runs/", body, Idempotency_Key=uuid4().hex)
    address = f"/training/runs/{run['id']}/"
    wait_for(lambda: api.get(address)["status"] == "running", 180, f"{members} ranks do not run")
    seen = api.get(address)
    api.post(f"{address}stop/", {})
    wait_for(lambda: api.get(address)["status"] == "stopped", 60, "it does not stop")
    return (datetime.fromisoformat(seen["started_at"]) - datetime.fromisoformat(seen["created_at"])).total_seconds()


def _smallest(api: Api) -> int:
    real = [one for one in api.get("/packages/")["results"] if not one.get("gpu_count")]
    return int(min(real, key=lambda one: one["cpu_milli"])["id"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2])
    parser.add_argument("--python", default=sys.executable, help="an interpreter with PyTorch, for gloo")
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    args = parser.parse_args()
    if why := machines.obstacle():
        sys.exit(why)
    began = time.monotonic()
    gloo = subprocess.run([args.python, "-c", "import torch"], capture_output=True, check=False).returncode == 0
    found: dict[str, Any] = {"by": "gloo" if gloo else "sockets", **network(args.python, args.rounds)}
    found["start"] = starts(args.runs, args.ranks)
    worst = min(size["ratio"] for name in ("one_machine", "two_machines") for size in found[name].values())
    latest = max(found["start"]["above_one_rank"].values())
    found["met"] = {"ratio": worst >= GOALS["ratio"], "above_one_rank_s": latest <= GOALS["above_one_rank_s"]}
    found["took_s"] = round(time.monotonic() - began)
    print(f"all-reduce by {found['by']}: at least {worst} of the host's; {latest} s above one rank at most")
    if args.json:
        print(json.dumps(found))
    return 0 if all(found["met"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
