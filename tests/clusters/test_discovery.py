"""The rows of this machine say what it has, and keep saying it."""

from pathlib import Path

import psutil
import pytest

from apps.clusters import discovery, nvidia, services
from apps.clusters.discovery import Card, Machine
from apps.clusters.models import Accelerator, Node, NodeSample
from apps.common.scoping import acting
from apps.workloads.drivers.base import DeviceGrant
from apps.workloads.drivers.local import nvml
from tests.builders import platform
from tests.drivers.fake_nvml import RESERVED_MIB, FakeCard, install


def machine(*cards: Card, memory_mib: int = 64_000) -> Machine:
    return Machine("box", "x86_64", 8000, memory_mib, 1000, 100_000, 50_000, 12.5, {"os": "Linux"}, cards)


def discover(tmp_path: Path) -> Node:
    with acting(platform()):
        return services.upsert_machine(
            platform(),
            driver="local",
            machine=discovery.measure_machine(tmp_path),
            isolation="L1",
            isolation_reason="bubblewrap",
        )


def test_this_machine_is_measured(tmp_path: Path) -> None:
    found = discovery.measure_machine(tmp_path)
    assert found.memory_mib == psutil.virtual_memory().total // discovery.MIB
    assert 1000 <= found.cpu_milli <= (psutil.cpu_count() or 1) * 1000
    assert 0 < found.disk_free_mib <= found.disk_mib


def test_without_a_driver_there_are_no_cards_and_no_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if discovery.measure_machine(tmp_path).cards:
        pytest.skip("this machine has cards")
    assert capfd.readouterr() == ("", "")


@pytest.mark.django_db
def test_looking_again_updates_the_same_node(tmp_path: Path) -> None:
    first, second = discover(tmp_path), discover(tmp_path)
    assert first.pk == second.pk
    assert NodeSample.objects.filter(node=first).count() == 2


@pytest.mark.django_db
def test_some_memory_is_kept_for_the_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "measure_machine", lambda folder: machine())
    node = discover(tmp_path)
    assert node.allocatable_memory_mib == 64_000 - services.discovery.RESERVE_MAX_MIB


@pytest.mark.django_db
def test_a_card_that_vanishes_is_kept_but_unhealthy_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = Card("GPU-1", 0, "nvidia", "H200", 143_771)
    monkeypatch.setattr(discovery, "measure_machine", lambda folder: machine(card))
    discover(tmp_path)
    monkeypatch.setattr(discovery, "measure_machine", lambda folder: machine())
    discover(tmp_path)
    assert not Accelerator.objects.get().healthy
    monkeypatch.setattr(discovery, "measure_machine", lambda folder: machine(card))
    discover(tmp_path)
    assert Accelerator.objects.get().healthy


@pytest.mark.parametrize(("old", "used"), [(False, 600), (True, 600 + RESERVED_MIB)])
def test_memory_that_the_driver_keeps_for_itself_is_not_in_use(
    monkeypatch: pytest.MonkeyPatch, old: bool, used: int
) -> None:
    """As nvidia-smi shows it; a driver too old to tell the two apart counts both."""
    install(monkeypatch, FakeCard()).is_old = old
    [card] = nvidia.cards()
    assert card.memory_used_mib == used
    own = DeviceGrant(card.uuid, 0, "nvidia", card.model, card.memory_mib, 100, "whole")
    sample = nvml.sample([own])
    assert sample is not None
    assert sample.memory_mib == used
