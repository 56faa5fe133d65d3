"""What a cluster's nodes have, and what others take of them."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.inventory import Taken, claimed, counted, mib, milli, read_node
from apps.workloads.drivers.kubernetes.views import others_by_node, read_pod

OURS = names.short("ours")


def pod(node: str | None, phase: str = "Running", labels: Any = None, *requests: dict[str, str]) -> dict[str, Any]:
    return {
        "metadata": {"name": "p", "namespace": "ns", "uid": "u", "labels": labels},
        "status": {"phase": phase},
        "spec": {"nodeName": node, "containers": [{"resources": {"requests": each}} for each in requests]},
    }


def foreign(pods: list[dict[str, Any]], platform: str) -> dict[str, Taken]:
    return others_by_node(read_pod(platform, each)[1] for each in pods)


ASKS = {"cpu": "500m", "memory": "1Gi"}


def test_what_others_ask_for_is_taken() -> None:
    found = foreign([pod("a", "Running", None, ASKS, {"cpu": "1"}), pod("a", "Pending", {}, ASKS)], OURS)
    assert found == {"a": Taken("a", 2000, 2048)}


@pytest.mark.parametrize(
    "other",
    [
        pod("a", "Succeeded", None, ASKS),
        pod("a", "Failed", None, ASKS),
        pod(None, "Pending", None, ASKS),
        pod("a", "Running", {names.PLATFORM: OURS}, ASKS),
    ],
)
def test_what_has_ended_has_no_place_or_is_ours_takes_nothing(other: Any) -> None:
    assert foreign([other], OURS) == {}


def test_another_platforms_pods_are_others() -> None:
    theirs = {names.PLATFORM: names.short("theirs")}
    assert foreign([pod("a", "Running", theirs, ASKS)], OURS) == {"a": Taken("a", 500, 1024)}


@pytest.mark.parametrize(
    ("quantity", "thousandths", "mebibytes"),
    [("1", 1000, 0), ("250m", 250, 0), ("1Gi", 1024**3 * 1000, 1024), ("1500Mi", 1500 * 1024**2 * 1000, 1500)],
)
def test_quantities_are_kubernetes_own(quantity: str, thousandths: int, mebibytes: int) -> None:
    assert (milli(quantity), mib(quantity)) == (thousandths, mebibytes)


@given(st.integers(0, 16), st.integers(0, 16))
def test_counted_cards_are_each_one_of_its_own(nvidia: int, amd: int) -> None:
    labels = {"nvidia.com/gpu.product": "H100", "nvidia.com/gpu.memory": "81559"}
    _name, node = read_node(
        {
            "metadata": {"name": "a", "uid": "n", "labels": labels},
            "status": {"allocatable": {"nvidia.com/gpu": str(nvidia), "amd.com/gpu": str(amd)}},
        }
    )
    cards = list(counted(node))
    assert len({card.uuid for card in cards}) == len(cards) == nvidia + amd
    assert [card.index for card in cards] == list(range(nvidia + amd))
    assert {(card.model, card.memory_mib) for card in cards if card.vendor == "nvidia"} <= {("H100", 81559)}


def test_claimed_cards_are_those_of_the_node_under_their_own_uuids() -> None:
    def device(uuid: str, kind: str = "gpu") -> Any:
        text = {"uuid": uuid, "type": kind, "productName": "NVIDIA H100"}
        return SimpleNamespace(
            attributes={name: SimpleNamespace(string=value) for name, value in text.items()},
            capacity={"memory": SimpleNamespace(value="80Gi")},
        )

    def offered(node: str, driver: str, *devices: Any) -> Any:
        return SimpleNamespace(spec=SimpleNamespace(driver=driver, node_name=node, devices=devices))

    slices = [
        offered("a", "gpu.nvidia.com", device("GPU-1"), device("GPU-2"), device("MIG-1", "mig")),
        offered("b", "gpu.nvidia.com", device("GPU-3")),
        offered("a", "another.driver", device("GPU-4")),
    ]
    cards = list(claimed("a", slices))
    assert [(card.uuid, card.index, card.model, card.memory_mib) for card in cards] == [
        ("GPU-1", 0, "NVIDIA H100", 81920),
        ("GPU-2", 1, "NVIDIA H100", 81920),
    ]
