"""The simulated driver: the same contract as any, and what it says of runs that are only stubs."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.workloads.drivers.base import DeviceGrant, ExitReason, IsolationLevel, Phase, Unsupported
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.simulated import stubs
from apps.workloads.drivers.simulated.driver import STUB_SECONDS, SimulatedDriver
from apps.workloads.drivers.simulated.grants import Grants
from tests.drivers.conftest import MakeKit
from tests.drivers.contract import DriverContract
from tests.drivers.kit import Kit

MakeSimulated = Callable[[int], Kit]
CARD = DeviceGrant("SIM-1", 0, "nvidia", "H100", 81_559, 100, "whole")


@pytest.fixture
def make_simulated(make_kit: MakeKit, tmp_path: Path) -> MakeSimulated:
    def make(processes: int) -> Kit:
        kit = make_kit(IsolationLevel.L0, False)
        local: LocalDriver = kit.driver
        kit.driver = SimulatedDriver(local, Grants(tmp_path / "simulated"), processes)
        kit.joins_machines = True
        return kit

    return make


class TestSimulatedDriver(DriverContract):
    @pytest.fixture
    def kit(self, make_simulated: MakeSimulated) -> Kit:
        return make_simulated(100)


@pytest.fixture
def stub(make_simulated: MakeSimulated) -> Kit:
    """A driver that may start no process at all."""
    return make_simulated(0)


def test_a_run_takes_little_of_the_real_machine(make_simulated: MakeSimulated) -> None:
    kit = make_simulated(1)
    source = "import os; print(os.environ['OMP_NUM_THREADS'], repr(os.environ['CUDA_VISIBLE_DEVICES']))"
    ended, text = kit.run(kit.python(source, cpu_milli=64_000, memory_mib=512_000, devices=(CARD,)))
    assert ended.succeeded, text
    assert text == "1 ''\n"


def test_figures_of_the_cards_are_made_up_and_within_the_grant(make_simulated: MakeSimulated) -> None:
    kit = make_simulated(1)
    handle = kit.launch(kit.python("import time; time.sleep(60)", devices=(CARD,)))
    usage = kit.wait(handle, lambda seen: seen.usage is not None).usage
    assert usage is not None
    assert usage.gpu_util_pct is not None
    assert 0 <= usage.gpu_util_pct <= 100
    assert 0 < (usage.gpu_memory_mib or 0) <= CARD.memory_mib
    kit.driver.stop(handle, 0)
    kit.wait(handle)


def test_beyond_the_limit_a_run_is_a_stub_that_says_so(
    make_simulated: MakeSimulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stubs, "START_S", 0.2)
    kit = make_simulated(1)
    real = kit.launch(kit.python("import time; print('real', flush=True); time.sleep(60)"))
    kit.wait_output(real, "real")
    handle = kit.launch(kit.python("print('never')", env={STUB_SECONDS: "1"}))
    ended = kit.wait_exit(handle)
    assert ended.succeeded
    log = kit.log(handle).decode()
    assert "stub" in log
    assert "never" not in log
    kit.driver.stop(real, 0)
    kit.wait(real)
    after = kit.launch(kit.python("print('again')"))
    kit.wait(after)
    assert kit.text(after) == "again\n"


def test_a_stub_starts_runs_and_is_stopped(stub: Kit) -> None:
    handle = stub.launch(stub.python("pass", env={STUB_SECONDS: "3600"}, devices=(CARD,)))
    assert stub.driver.observe(handle).phase is Phase.IMAGE
    running = stub.wait(handle, lambda seen: seen.phase is Phase.RUNNING)
    assert [step.done for step in running.steps] == [True, True]
    with pytest.raises(Unsupported):
        stub.driver.exec(handle, ["true"])
    time.sleep(0.2)
    stub.driver.stop(handle, 20)
    ended = stub.driver.observe(handle)
    assert ended.exit is not None
    assert ended.exit.reason is ExitReason.STOPPED
    assert 0 < ended.ran_for_s < 60
    assert stub.driver.observe(handle).ran_for_s == ended.ran_for_s
    stub.driver.forget(handle)
    assert handle.ref not in stub.driver.known()


def test_a_stub_of_an_earlier_start_of_the_machine_is_lost(stub: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = stub.launch(stub.python("pass"))
    monkeypatch.setattr("apps.workloads.drivers.simulated.driver.boot", lambda: "another")
    seen = stub.driver.observe(handle)
    assert (seen.phase, seen.exit and seen.exit.reason) == (Phase.LOST, ExitReason.LOST)


def test_log_and_metrics_of_a_stub_are_the_same_whenever_they_are_read(stub: Kit) -> None:
    handle = stub.launch(stub.python("pass", env={STUB_SECONDS: "30"}, devices=(CARD,)))
    whole = stubs.log(stub.driver._grants.read(handle.ref), 20.0, 0, 4096, ended=False)
    part = stubs.log(stub.driver._grants.read(handle.ref), 30.0, len(whole.data), 4096, ended=True)
    assert part.data.startswith(b"[simulated] 25 of 30 s")
    assert part.complete
    first = stubs.metrics(stub.driver._grants.read(handle.ref), 20.0, 0.0)
    assert stubs.metrics(stub.driver._grants.read(handle.ref), 30.0, 0.0)[: len(first)] == first
