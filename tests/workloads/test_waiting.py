"""Every cause has words, for who waits and for who only asks, and the words use what the scheduler found out."""

from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils.translation import override

from apps.workloads.choices import Reason
from apps.workloads.explaining.cases import Case
from apps.workloads.explaining.causes import words_of
from apps.workloads.explaining.names import NAMELESS, Names
from apps.workloads.spec import Gpu
from apps.workloads.waiting import explain
from scheduler import CauseCode

NAMES = Names(node="gpu-a01", zone="Beijing", cluster="research")
FALLBACK = "Waiting"

# What a sentence about each cause needs, as the scheduler gives it, and what must be read of it.
TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
    CauseCode.NO_NODES: ({}, []),
    CauseCode.ZONE: ({"zone": "…"}, ["Beijing"]),
    CauseCode.CLUSTER: ({"cluster": "…"}, ["research"]),
    CauseCode.RESERVED: ({"cluster": "…"}, ["research"]),
    CauseCode.ARCH: ({"arch": "aarch64"}, ["aarch64"]),
    CauseCode.RDMA: ({}, ["RDMA"]),
    CauseCode.NO_SUCH_MODEL: ({"model": "B300", "mode": "whole", "devices": 1}, ["B300"]),
    CauseCode.NO_SUCH_MODE: ({"model": "H200", "mode": "mig", "profile": "3g.71gb"}, ["H200", "3g.71gb"]),
    CauseCode.NEVER_FITS: ({"cpu_milli": 96_000, "memory_mib": 2048, "devices": 16}, ["96", "2 GiB", "16"]),
    CauseCode.NODE_UNSCHEDULABLE: ({}, []),
    CauseCode.NODE_UNHEALTHY: ({}, []),
    CauseCode.RDMA_DOWN: ({}, ["RDMA"]),
    CauseCode.CPU: ({"cpu_short_milli": 1500}, ["gpu-a01", "1.5 CPU cores"]),
    CauseCode.MEMORY: ({"memory_short_mib": 3072}, ["gpu-a01", "3 GiB"]),
    CauseCode.DEVICES: ({"devices_short": 2}, ["gpu-a01", "2 GPUs"]),
    CauseCode.SLICES: ({"devices_short": 1, "device_memory_short_mib": 6144}, ["gpu-a01", "6 GB"]),
    CauseCode.GANG: ({"nodes_with_room": 3, "members": 8}, ["3 machines", "8 members"]),
    CauseCode.QUOTA: (
        {"level": "department", "queue": "…", "resource": "H200", "used": 3000, "limit": 4000, "asked": 2000},
        ["department", "H200", "3 of 4", "2 asked"],
    ),
    CauseCode.FAIR_SHARE: ({}, []),
    CauseCode.BEHIND_RESERVATION: ({"node": "…", "start_p50": 1_900_000_000.0}, ["gpu-a01", "should start at"]),
    CauseCode.WAITING_FOR_VICTIMS: ({"node": "…"}, ["gpu-a01"]),
    CauseCode.BAD_REQUEST: ({"field": "gpu.count"}, ["gpu.count"]),
    Reason.ISOLATION.value: ({}, []),
}


def test_no_cause_of_the_scheduler_is_forgotten() -> None:
    assert set(TOLD) == {*CauseCode, Reason.ISOLATION.value}


@pytest.mark.parametrize("asked", [False, True], ids=["waiting", "asked"])
@pytest.mark.parametrize("cause", sorted(TOLD))
def test_every_cause_has_words_that_use_its_numbers(cause: str, asked: bool) -> None:
    params, expected = TOLD[cause]
    with override("en"):
        words = words_of(Case(cause, params, names=NAMES, asked=asked))
    assert words.title
    assert words.text
    assert words.title != FALLBACK
    for part in expected:
        assert part in f"{words.title} {words.text}"


@pytest.mark.parametrize("cause", sorted(TOLD))
def test_who_only_asks_is_not_told_to_leave_the_queue(cause: str) -> None:
    with override("en"):
        words = words_of(Case(cause, TOLD[cause][0], names=NAMES, asked=True))
    assert "out of the queue" not in words.text
    assert "It starts" not in words.text


def test_the_nearest_miss_names_model_and_how_many_more_are_as_close() -> None:
    gpu = Gpu(mode="whole", count=4, model="H200")
    near = {"node_id": "…", "nodes": 3, "devices": 1}
    with override("en"):
        words = words_of(Case(CauseCode.DEVICES, {}, near, NAMES, gpu))
        kept = words_of(Case(CauseCode.DEVICES, {}, near, NAMES, gpu, reserved=True))
    assert words.title == "gpu-a01 is short of 1 × H200"
    assert "4 whole cards of one machine; 3 are free" in words.text
    assert "2 other machines are as close" in words.text
    assert "reserved for it" in kept.text
    assert "reserved for it" not in words.text


@pytest.mark.parametrize(
    ("count", "told"), [(2, "have: ib-1, ib-2."), (3, "ib-1, ib-2 and 1 other."), (5, "and 3 others.")]
)
def test_who_needs_rdma_is_told_which_machines_have_it(count: int, told: str) -> None:
    names = Names(node="gpu-a01", rdma=("ib-1", "ib-2"))
    with override("en"):
        words = words_of(Case(CauseCode.CPU, {"cpu_short_milli": 1500, "rdma_count": count}, names=names))
        nobody = words_of(Case(CauseCode.CPU, {"cpu_short_milli": 1500, "rdma_count": count}))
    assert told in words.text
    assert "RDMA" not in nobody.text


def test_one_free_card_is_told_in_the_singular() -> None:
    gpu = Gpu(mode="whole", count=4, model="H200")
    with override("en"):
        words = words_of(Case(CauseCode.DEVICES, {}, {"node_id": "…", "devices": 3}, NAMES, gpu))
    assert "1 is free there now" in words.text


@pytest.mark.parametrize(
    ("gpu", "told"),
    [
        (Gpu(mode="whole", count=16, model="H100"), "beside 16 × H100."),
        (Gpu(mode="mig", model="A30", profile="3g.40gb"), "beside 1 × A30 3g.40gb."),
        (Gpu(mode="vgpu", model="A30", core_milli=500, memory_mib=49152), "beside 1 × A30 48 GB."),
        (Gpu(mode="whole"), "beside 1 × GPU."),
    ],
)
def test_what_never_fits_is_told_with_the_piece_that_is_asked_for(gpu: Gpu, told: str) -> None:
    params = {"cpu_milli": 4000, "memory_mib": 8192, "devices": gpu.count}
    with override("en"):
        assert told in words_of(Case(CauseCode.NEVER_FITS, params, gpu=gpu)).text


def test_where_any_card_would_do_none_is_named() -> None:
    with override("en"):
        words = words_of(Case(CauseCode.NO_SUCH_MODEL, {"model": "", "devices": 1}, gpu=Gpu(mode="whole")))
    assert words.title == "No machine has a GPU"


def test_sentences_stand_as_each_language_has_them() -> None:
    case = Case(CauseCode.NEVER_FITS, {"cpu_milli": 4000, "memory_mib": 8192, "devices": 1})
    with override("en"):
        assert "GPU. Take it out" in words_of(case).text
    with override("zh-hans"):
        assert "。 " not in words_of(case).text


@pytest.mark.parametrize("cause", [CauseCode.NEVER_FITS, CauseCode.NO_SUCH_MODEL])
def test_what_can_never_start_has_no_place_and_no_start_to_wait_for(cause: str) -> None:
    told = {"cause": cause, "position": 3, "kin": {"position": 1, "total": 1}}
    with override("en"):
        text = render_to_string("workloads/waiting.html", {"wait": explain(told, names=NAMELESS)})
        other = render_to_string("workloads/waiting.html", {"wait": explain({**told, "cause": "cpu"}, names=NAMELESS)})
    assert "never, as things are" in text
    assert "that wait for the same" not in text
    assert "not known yet" in other
    assert "that wait for the same" in other


def test_a_list_says_the_amount_without_asking_for_names() -> None:
    with override("en"):
        report = explain({"cause": "cpu", "nearest": {"node_id": "…", "cpu_milli": 1000}}, names=NAMELESS)
    assert report.title == "Short of 1 CPU core"


def test_whose_quota_is_used_up_is_said_by_level() -> None:
    with override("en"):
        titles = {
            words_of(Case(CauseCode.QUOTA, {"level": level})).title for level in ("user", "department", "organisation")
        }
    assert len(titles) == 3


def test_what_was_not_looked_at_yet_and_what_nobody_knows_are_told_apart() -> None:
    with override("en"):
        assert explain({}, names=NAMELESS).title == "Waiting for the scheduler"
        assert explain({"cause": "of a newer version"}, names=NAMELESS).title == FALLBACK


def test_members_that_no_network_joins_are_told_that_they_need_one_machine() -> None:
    with override("en"):
        never = words_of(Case(CauseCode.NEVER_FITS, {"members": 2, "apart": True}))
        later = words_of(Case(CauseCode.GANG, {"nodes_with_room": 2, "members": 2, "apart": True}))
        plain = words_of(Case(CauseCode.GANG, {"nodes_with_room": 2, "members": 2}))
    assert "must be on one machine" in never.text
    assert "must be on one machine" in later.text
    assert "must be on one machine" not in plain.text
