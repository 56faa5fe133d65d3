"""What is promised, one function each: it returns what was seen, and raises AssertionError for a broken promise."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from apps.clusters import kernel_log, nvidia
from apps.clusters.limiters import MPS_PIPES
from apps.clusters.xids import Remedy, pci_key
from apps.workloads.drivers.base import IsolationLevel, LaunchRefused, Observation, Reference
from benchmarks.hardware import programs
from benchmarks.hardware.bench import Bench, nvidia_smi, run, running, settled, wait
from scheduler.mig import table_for
from tests.drivers import host_images
from tests.drivers.registries import plain_registry

OUT_OF_MEMORY, NO_DEVICE = 2, 100
ILLEGAL_ADDRESS = 700
MMU_FAULT = 31
CLOCK_SLACK_S = 2
SLACK_MIB = 64
Seen = dict[str, Any]


def require(holds: bool, *about: object) -> None:
    """A promise, whatever Python is told of its assertions."""
    if not holds:
        raise AssertionError(" ".join(map(str, about)))


def figures(bench: Bench) -> Seen:
    """What a node reports of its card is what nvidia-smi shows."""
    card, smi = bench.card, bench.smi()
    require(smi["uuid"] == card.uuid, smi["uuid"], card.uuid)
    require(smi["name"].removeprefix("NVIDIA ") == card.model, smi["name"])
    require(int(smi["memory.total"]) == card.memory_mib, smi["memory.total"], card.memory_mib)
    require(abs(int(smi["memory.used"]) - (card.memory_used_mib or 0)) <= SLACK_MIB, smi, card.memory_used_mib)
    require(abs(int(smi["temperature.gpu"]) - (card.temperature_c or 0)) <= 3, smi, card.temperature_c)
    require(abs(float(smi["power.draw"]) - (card.power_w or 0)) <= 25, smi, card.power_w)
    require(smi["pci.bus_id"].lower().endswith(card.pci.lower()), smi["pci.bus_id"], card.pci)
    versions = nvidia.driver_versions()
    require(smi["driver_version"] == versions["nvidia-driver"], smi["driver_version"], versions)
    return {"model": card.model, "memory_mib": card.memory_mib, **versions}


def mig_places(bench: Bench) -> Seen:
    """The profiles and places that the driver names are those of nvidia-smi, and of the scheduler's own table."""
    cuts = {cut.name: cut for cut in bench.card.mig_cuts or ()}
    if not cuts:
        return {"profiles": 0}
    rows = re.findall(r"MIG (\S+)\s+(\d+)\s+\d+/(\d+)\s+([\d.]+)", nvidia_smi("mig", "-lgip"))
    require(sorted(name for name, *_ in rows) == sorted(cuts), rows)
    by_number = {}
    for name, number, most, gib in rows:
        by_number[number] = cut = cuts[name]
        require(cut.maximum == int(most) and abs(cut.memory_mib / 1024 - float(gib)) < 0.01, cut, most, gib)
    places_told = nvidia_smi("mig", "-lgipp")
    for number, starts, size in re.findall(r"ID\s+(\d+) Placements?\s*: \{([\d,]+)\}:(\d+)", places_told):
        cut = by_number[number]
        places = tuple(int(start) for start in starts.split(","))
        require((cut.starts, cut.size) == (places, int(size)), cut, places, size)
    for profile in table_for(bench.card.model, bench.card.memory_mib):
        cut = cuts[profile.name]
        same = (profile.starts, profile.size, profile.compute, profile.maximum)
        require(same == (cut.starts, cut.size, cut.compute, cut.maximum), profile, cut)
    return {"profiles": len(cuts)}


def closed(bench: Bench) -> Seen:
    """Work without a card finds none: neither by CUDA, nor in /dev."""
    _, found = run(bench.driver(), bench.request(programs.VISIBLE, devices=()))
    require(found["count"] == 0 and found["nodes"] == [], found)
    require(found["error"] == NO_DEVICE, found)
    return {"cuInit": found["error"]}


def whole(bench: Bench) -> Seen:
    """Work with a whole card sees that card and no other, with all of its memory."""
    _, found = run(bench.driver(), bench.request(programs.VISIBLE))
    require(found["uuids"] == [bench.card.uuid], found)
    require(bench.card.memory_mib - found["memory_mib"] < 1024, found, bench.card.memory_mib)
    return {"nodes": found["nodes"], "memory_mib": found["memory_mib"], "processors": found["processors"]}


def busy(bench: Bench) -> Seen:
    """The usage of a run on a whole card is what nvidia-smi shows of the card."""
    driver = bench.driver()
    with running(driver, bench.request(programs.HOLD, "4096", "busy")) as handle:
        use, smi = card_use(settled(driver, handle, 4)), bench.smi()
    require(abs(int(smi["memory.used"]) - use.memory_mib) <= SLACK_MIB, smi, use)
    require(use.memory_mib >= 4096, use)
    require(use.utilisation_pct >= 90 and int(smi["utilization.gpu"]) >= 90, use, smi)
    require(abs(int(smi["temperature.gpu"]) - use.temperature_c) <= 3, use, smi)
    return {**use._asdict(), "smi": smi["memory.used"]}


def idle(bench: Bench) -> Seen:
    """A run that holds memory and computes nothing stands at 0 %: what the rules about idle cards go by."""
    driver = bench.driver()
    with running(driver, bench.request(programs.HOLD, "1024", "idle")) as handle:
        use = card_use(settled(driver, handle, 4))
    require(use.utilisation_pct == 0 and use.memory_mib >= 1024, use)
    return use._asdict()


class CardUse(NamedTuple):
    utilisation_pct: float
    memory_mib: int
    temperature_c: int


def card_use(seen: Observation) -> CardUse:
    """Of a run whose card was measured."""
    usage = seen.usage
    if usage is None or usage.gpu_util_pct is None or usage.gpu_memory_mib is None or usage.gpu_temperature_c is None:
        raise AssertionError(f"not measured: {seen}")
    return CardUse(usage.gpu_util_pct, usage.gpu_memory_mib, usage.gpu_temperature_c)


def given_back(bench: Bench) -> Seen:
    """A run that is killed leaves nothing on the card."""
    driver, before = bench.driver(), int(bench.smi()["memory.used"])
    handle = driver.launch(bench.request(programs.HOLD, "8192", "busy"))
    wait(driver, handle, lambda seen: "{" in driver.logs(handle).data.decode())
    held = int(bench.smi()["memory.used"])
    driver.stop(handle, 0)
    began = time.monotonic()
    wait(driver, handle)
    while (after := int(bench.smi()["memory.used"])) > before + SLACK_MIB and time.monotonic() - began < 10:
        time.sleep(0.1)
    require(held - before >= 8192 and after <= before + SLACK_MIB, before, held, after)
    return {"held_mib": held - before, "after_s": round(time.monotonic() - began, 1)}


def shared(bench: Bench) -> Seen:
    """Two runs share a card; each is shown its own memory and its own share of time."""
    driver, grant = bench.driver(), bench.grant("shared", bench.card.memory_mib // 2, 50)
    one = bench.request(programs.HOLD, "1024", "busy", devices=(grant,))
    other = bench.request(programs.HOLD, "3072", "idle", devices=(grant,))
    with running(driver, one) as first, running(driver, other) as second:
        settled(driver, first, 4)
        uses = [card_use(driver.observe(handle)) for handle in (first, second)]
    memory, rates = [use.memory_mib for use in uses], [use.utilisation_pct for use in uses]
    require(1024 <= memory[0] < 2048 and 3072 <= memory[1] < 4096, memory)
    require(rates[0] > 50 and rates[1] < 10, rates)
    return {"memory_mib": memory, "utilisation_pct": rates}


def mps(bench: Bench) -> Seen:
    """Slices by MPS: more memory than granted is refused, the processors are limited, and L1 gives out no slice."""
    slice_mib = 8192
    with mps_daemon():
        grant = bench.grant("vgpu", slice_mib, 25)
        try:
            bench.driver().launch(bench.request(programs.ASK, "1", devices=(grant,)))
            refused = ""
        except LaunchRefused as error:
            refused = error.code
        require(refused == "no_limiter", refused)
        _, found = run(bench.driver(IsolationLevel.L0), bench.request(programs.ASK, "6144", "12288", devices=(grant,)))
        _, alone = run(bench.driver(IsolationLevel.L0), bench.request(programs.ASK, "12288"))
    answers = found["answers"]
    require(answers == {"6144": 0, "12288": OUT_OF_MEMORY}, found)
    require(alone["answers"] == {"12288": 0}, alone)
    require(found["processors"] <= alone["processors"] // 4 + 2, found, alone)
    return {"slice_mib": slice_mib, "answers": answers, "processors": [found["processors"], alone["processors"]]}


@contextmanager
def mps_daemon() -> Iterator[None]:
    """Raises AssertionError where it does not start."""
    folders = {"CUDA_MPS_PIPE_DIRECTORY": str(MPS_PIPES), "CUDA_MPS_LOG_DIRECTORY": tempfile.gettempdir()}
    env = {**os.environ, **folders}
    subprocess.run(["nvidia-cuda-mps-control", "-d"], env=env, check=True, capture_output=True)
    try:
        for _ in range(50):
            if (MPS_PIPES / "control").exists():
                break
            time.sleep(0.1)
        yield
    finally:
        subprocess.run(["nvidia-cuda-mps-control"], env=env, input=b"quit\n", check=False, timeout=30)


def fault(bench: Bench) -> Seen:
    """A program that writes where nothing is ends; its card is told to have reported it, and goes on."""
    driver = bench.driver()
    began = time.time()
    seen, found = run(driver, bench.request(programs.FAULT))
    require(found["error"] == ILLEGAL_ADDRESS and seen.exit is not None and seen.exit.code == 1, found, seen)
    told = kernel_log.card_faults()
    newest = [fault for fault in told.faults if fault.last_at >= began - CLOCK_SLACK_S]
    require(bool(newest), told)
    require(newest[-1].pci == pci_key(bench.card.pci) and newest[-1].code == MMU_FAULT, newest)
    require(newest[-1].pid > 0 and newest[-1].remedy is Remedy.APP, newest)
    _, after = run(driver, bench.request(programs.VISIBLE))
    require(after["count"] == 1, after)
    return {"xid": newest[-1].code, "process": newest[-1].process, "remedy": newest[-1].remedy.value}


def container_image(bench: Bench) -> Seen:
    """A container image that has no library of NVIDIA's computes on the card with the machine's own."""
    with pushed() as (image, rules):
        _, found = run(bench.driver(), bench.request(programs.VISIBLE, image=image, pull=rules))
        require(found["uuids"] == [bench.card.uuid], found)
        _, taken = run(bench.driver(), bench.request(programs.ASK, "1024", image=image, pull=rules))
    require(taken["answers"] == {"1024": 0}, taken)
    return {"uuids": len(found["uuids"])}


def torch_runtime(bench: Bench) -> Seen:
    """PyTorch in the sandbox is right, and as fast as outside of it."""
    _, inside = run(bench.driver(), bench.request(programs.MATRICES, memory_mib=32_768))
    outside = subprocess.run([sys.executable, "-c", programs.MATRICES], capture_output=True, text=True, check=True)
    rate = float(re.findall(r'"tflops": ([\d.]+)', outside.stdout)[-1])
    require(inside["apart"] < 0.01, inside)
    require(inside["tflops"] >= 0.95 * rate, inside, rate)
    return {**inside, "outside_tflops": rate}


def torch_container(bench: Bench) -> Seen:
    """PyTorch from a volume in a container image, with the machine's driver."""
    with pushed() as (image, rules):
        request = bench.request(programs.MATRICES, image=image, pull=rules, memory_mib=32_768)
        _, inside = run(bench.driver(), request)
    require(inside["apart"] < 0.01, inside)
    return inside


@contextmanager
def pushed() -> Iterator[tuple[Reference, Any]]:
    """An image of this machine's Python and what else distributions have of libraries, in a registry."""
    with plain_registry() as registry:
        layers = host_images.python_layer(), host_images.libraries_layer()
        image = registry.image(*layers, Env=["PATH=/usr/bin:/bin"])
        yield image, replace(registry.rules, most_mib=4096)


CHECKS: Mapping[str, Callable[[Bench], Seen]] = {
    check.__name__: check
    for check in (figures, mig_places, closed, whole, busy, idle, given_back, shared, mps, fault, container_image)
}
WITH_TORCH: Mapping[str, Callable[[Bench], Seen]] = {
    check.__name__: check for check in (torch_runtime, torch_container)
}
