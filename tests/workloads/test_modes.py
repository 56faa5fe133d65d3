"""How cards are given out: what each can be in, what lies on it and could, and switching against races."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.db import connection, transaction

from apps.audit.models import Entry
from apps.clusters.choices import AcceleratorMode
from apps.clusters.models import Accelerator, Node
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, Unavailable
from apps.workloads import states
from apps.workloads.drivers.base import CannotSee, DriverError
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.simulated.driver import SimulatedDriver
from apps.workloads.hardware import modes
from apps.workloads.hardware.layouts import Held, layouts, offers
from apps.workloads.models import Attempt, Placement
from apps.workloads.queueing.lock import try_to_schedule
from scheduler.mig import table_for
from tests.builders import World, platform, submit_workload, unique

H100 = table_for("H100", 81_920)
CUTS: list[dict[str, Any]] = [
    {"name": "2g.20gb", "starts": [0, 2, 4], "size": 2, "compute": 2, "memory_mib": 19_968, "maximum": 3}
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: LazySettings) -> None:
    settings.PLSTACK_HOME = tmp_path


def card_of(world: World, **columns: Any) -> Accelerator:
    """One card of a driver that switches it without a machine."""
    Node.objects.filter(pk=world.node.pk).update(driver="simulated", last_seen_at=db_now())
    values = {"vendor": "nvidia", "model": "H100", "memory_mib": 81_920, "limiter": "hami", "index": 0}
    made: Accelerator = Accelerator.objects.create(node=world.node, uuid=unique("GPU"), **{**values, **columns})
    return made


def hold(world: World, card: Accelerator, **columns: Any) -> None:
    workload = submit_workload(world)
    attempt = Attempt(id=uuid4(), organisation_id=workload.organisation_id, workload=workload, number=1, node=card.node)
    piece = Placement(
        organisation_id=workload.organisation_id, attempt=attempt, node=card.node, accelerator=card, **columns
    )
    assert states.place(platform(), workload, attempt, [piece])


def switch(card: Accelerator, mode: str, seen: str | None = None) -> Accelerator:
    return modes.set_card_mode(
        platform(),
        card_id=card.pk,
        mode=AcceleratorMode(mode),
        seen=AcceleratorMode(seen) if seen else None,
    )


class TestPossible:
    @pytest.mark.parametrize(
        ("columns", "expected"),
        [
            ({}, {"whole", "mig", "vgpu", "shared"}),
            ({"limiter": ""}, {"whole", "mig", "shared"}),  # nothing would hold a slice to its memory
            ({"mig_profiles": []}, {"whole", "vgpu", "shared"}),  # its driver says that it has no MIG
            ({"model": "L40S"}, {"whole", "vgpu", "shared"}),
            ({"model": "L40S", "mig_profiles": CUTS}, {"whole", "mig", "vgpu", "shared"}),
            ({"vendor": "amd", "model": "MI300X", "limiter": ""}, {"whole", "shared"}),
            ({"vendor": "acme", "model": "X1", "limiter": ""}, {"whole"}),
        ],
    )
    def test_what_a_card_can_be_in_is_what_is_there(
        self, world: World, columns: dict[str, Any], expected: set[str]
    ) -> None:
        assert set(modes.possible_modes(card_of(world, **columns))) == expected

    def test_a_refusal_says_what_is_missing(self, world: World) -> None:
        with pytest.raises(Invalid) as refusal:
            switch(card_of(world, limiter=""), "vgpu")
        assert "HAMi-core" in str(refusal.value.message)


class TestSwitching:
    def test_the_second_of_two_tabs_is_told_that_the_card_was_switched(self, world: World) -> None:
        card = card_of(world)
        switch(card, "mig", seen="whole")
        with pytest.raises(Conflict, match="meanwhile"):
            switch(card, "shared", seen="whole")
        card.refresh_from_db()
        assert card.mode == "mig"

    def test_work_that_came_between_the_look_and_the_switch_is_named(self, world: World) -> None:
        card = card_of(world)
        hold(world, card, core_milli=1000, device_memory_mib=81_920, exclusive=True)
        with pytest.raises(Conflict, match="card 0: run"):
            switch(card, "mig", seen="whole")

    def test_nothing_is_placed_while_a_switch_is_under_way(
        self, world: World, transactional_db: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The pass finds its lock taken: the switch holds it from before it looks until it is written."""
        held: list[bool] = []

        def carried_out(self: object, node: str, uuid: str, mode: str) -> None:
            held.append(bool(another_pass()))

        monkeypatch.setattr(SimulatedDriver, "set_gpu_mode", carried_out)
        switch(card_of(world), "mig")
        assert held == [False]

    @pytest.mark.parametrize(
        ("failure", "refusal", "words"),
        [
            (CannotSee(Said(Code.NODE_RESTING)), Unavailable, "nothing was changed"),
            (DriverError(Said(Code.CARD_IN_USE)), Conflict, "still uses"),
        ],
    )
    def test_a_node_that_does_not_do_it_changes_nothing(
        self, world: World, monkeypatch: pytest.MonkeyPatch, failure: DriverError, refusal: type[Exception], words: str
    ) -> None:
        def fail(*_arguments: object) -> None:
            raise failure

        monkeypatch.setattr(SimulatedDriver, "set_gpu_mode", fail)
        card = card_of(world)
        with pytest.raises(refusal, match=words):
            switch(card, "mig")
        card.refresh_from_db()
        assert card.mode == "whole"
        assert not Entry.objects.filter(action="card.mode").exists()

    def test_a_silent_node_is_not_asked(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        card = card_of(world)
        Node.objects.filter(pk=world.node.pk).update(last_seen_at="2000-01-01T00:00Z")
        with pytest.raises(Unavailable, match="not been heard from"):
            switch(card, "mig")

    def test_where_one_card_of_a_node_fails_the_others_are_taken_back(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cards = [card_of(world, index=index) for index in range(3)]
        done: list[tuple[str, str]] = []

        def at_most_two(self: object, node: str, uuid: str, mode: str) -> None:
            if uuid == cards[2].uuid:
                raise DriverError(Said(Code.CARD_IN_USE))
            done.append((uuid, mode))

        monkeypatch.setattr(SimulatedDriver, "set_gpu_mode", at_most_two)
        with pytest.raises(Conflict):
            modes.set_node_mode(platform(), node_id=world.node.pk, mode=AcceleratorMode.MIG)
        assert done == [
            (cards[0].uuid, "mig"),
            (cards[1].uuid, "mig"),
            (cards[0].uuid, "whole"),
            (cards[1].uuid, "whole"),
        ]
        assert set(Accelerator.objects.values_list("mode", flat=True)) == {"whole"}

    def test_a_node_is_switched_only_where_every_card_can_be(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def never(*_arguments: object) -> None:
            raise AssertionError("a card was switched")

        monkeypatch.setattr(SimulatedDriver, "set_gpu_mode", never)
        card_of(world)
        card_of(world, index=1, model="L40S")
        with pytest.raises(Invalid, match="L40S"):
            modes.set_node_mode(platform(), node_id=world.node.pk, mode=AcceleratorMode.MIG)


def another_pass() -> bool:
    """Whether a scheduling pass could begin in another session now."""
    return ThreadPoolExecutor(1).submit(_begin).result()


def _begin() -> bool:
    try:
        with transaction.atomic():
            return try_to_schedule()
    finally:
        connection.close()


class TestLayouts:
    def test_an_empty_card_offers_every_place(self) -> None:
        found = {offer.profile.name: offer.free_starts for offer in offers(H100, [])}
        assert found["1g.10gb"] == tuple(range(7))
        assert found["3g.40gb"] == (0, 4)

    def test_what_lies_there_takes_its_slices_and_its_compute(self) -> None:
        found = {offer.profile.name: offer for offer in offers(H100, [Held("3g.40gb", 4)])}
        assert found["3g.40gb"].free_starts == (0,)
        assert found["2g.20gb"].free_starts == (0, 2)
        assert found["7g.80gb"].free_starts == ()
        assert found["3g.40gb"].held == 1
        full = {offer.profile.name: offer for offer in offers(H100, [Held("3g.40gb", 4), Held("4g.40gb", 0)])}
        assert not any(offer.free_starts for offer in full.values()), "seven compute slices are given out"

    def test_one_of_a_kind_is_offered_once(self) -> None:
        found = {offer.profile.name: offer.free_starts for offer in offers(H100, [Held("1g.10gb+me", 0)])}
        assert found["1g.10gb+me"] == ()
        assert found["1g.10gb"] == (1, 2, 3, 4, 5, 6)

    def test_ways_to_cut_it_are_legal_full_and_told_once(self) -> None:
        found = layouts(H100)
        names = [tuple(part.profile for part in layout) for layout in found]
        assert names[0] == ("7g.80gb",)
        assert ("4g.40gb", "3g.40gb") in names
        assert ("1g.10gb",) * 7 in names
        assert len({tuple(sorted(each)) for each in names}) == len(names)
        by_name = {profile.name: profile for profile in H100}
        for layout in found:
            ends = [(part.start, part.start + part.size) for part in layout]
            assert all(a[1] <= b[0] for a, b in pairwise(ends))
            assert all(part.start in by_name[part.profile].starts for part in layout)
            assert sum(by_name[part.profile].compute for part in layout) <= 7

    def test_beside_what_lies_there(self) -> None:
        names = {tuple(part.profile for part in layout) for layout in layouts(H100, [Held("4g.40gb", 0)])}
        assert ("3g.40gb",) in names
        assert ("1g.10gb", "1g.10gb", "1g.10gb") in names
        assert not any(name == "2g.20gb" and len(each) > 2 for each in names for name in each)
