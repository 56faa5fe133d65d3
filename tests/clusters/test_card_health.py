"""Which cards nothing new is placed on, and why; faults are kept once, and an operator's word for a reset ends them."""

import json
from dataclasses import asdict, replace
from uuid import UUID, uuid4

import pytest

from apps.clusters import geometry, services
from apps.clusters.card_fault import CardFault
from apps.clusters.cards import Card, Trouble, UnreadCard
from apps.clusters.discovery import Machine
from apps.clusters.models import Accelerator, Node
from apps.clusters.xids import Fault
from apps.common.errors import Conflict, Denied, NotFound
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole
from tests.builders import make_staff, platform, staff_actor
from tests.console.kit import count_entries, last_entry

pytestmark = pytest.mark.django_db

BOOT = str(uuid4())
FIRST = Card("GPU-1", 0, "nvidia", "H100", 81_920, pci="0000:01:00.0")
SECOND = Card("GPU-2", 1, "nvidia", "H100", 81_920, pci="0000:02:00.0")
AMD = Card("GPU-a", 0, "amd", "MI300X", 196_608, pci="0000:03:00.0")
NOW = 1_790_000_000.0


def fault(code: int = 79, usec: int = 1_000_000, *, pci: str = "0000:01:00", pid: int = 0, text: str = "") -> Fault:
    return Fault(pci, code, pid, "python" if pid else "", text, NOW, NOW + usec / 1e6, usec)


def machine(*cards: Card, boot_id: str = BOOT, **told: object) -> Machine:
    found = Machine("box", "x86_64", 8000, 64_000, 1000, 100_000, 50_000, 12.5, {"os": "Linux"}, cards)
    return replace(found, boot_id=boot_id, **told)  # type: ignore[arg-type]


def discover(found: Machine) -> Node:
    with acting(platform()) as actor:
        return services.upsert_machine(actor, driver="local", machine=found, isolation="L1", isolation_reason="")


def told(uuid: str = "GPU-1") -> tuple[bool, str]:
    card = Accelerator.objects.get(uuid=uuid)
    assert geometry.devices([card])[0].healthy == card.healthy  # what the scheduler goes by
    assert (card.unhealthy_since is None) == card.healthy
    return card.healthy, card.trouble


def reset(uuid: str = "GPU-1") -> None:
    with acting(platform()) as actor:
        services.confirm_reset(actor, card_id=Accelerator.objects.get(uuid=uuid).pk)


class TestCards:
    def test_a_lost_card_keeps_its_row_and_hides_no_other(self) -> None:
        discover(machine(FIRST, SECOND, AMD))
        discover(machine(SECOND, AMD, unread=(UnreadCard(0, "", "GPU_IS_LOST"),)))
        assert [told(), told("GPU-2"), told("GPU-a")] == [(False, Trouble.LOST), (True, ""), (True, "")]
        assert Accelerator.objects.get(uuid="GPU-1").pci == "0000:01:00.0"
        discover(machine(FIRST, SECOND, AMD))
        assert told() == (True, "")

    @pytest.mark.parametrize(
        ("error", "trouble"),
        [
            ("GPU_IS_LOST", Trouble.LOST),
            ("RESET_REQUIRED", Trouble.RESET),
            ("UNKNOWN", Trouble.UNREAD),
            ("ERROR_4711", Trouble.UNREAD),
        ],
    )
    def test_the_drivers_error_says_why(self, error: str, trouble: Trouble) -> None:
        discover(machine(FIRST, SECOND))
        discover(machine(SECOND, unread=(UnreadCard(5, "GPU-1", error),)))
        assert told() == (False, trouble)

    def test_a_library_that_fails_marks_its_cards_and_no_others(self) -> None:
        discover(machine(FIRST, SECOND, AMD))
        discover(machine(AMD, nvml_error="LIB_RM_VERSION_MISMATCH"))
        assert [told(), told("GPU-2")] == [(False, Trouble.LIBRARY)] * 2
        assert told("GPU-a") == (True, "")

    def test_a_card_that_is_not_listed_any_more_is_absent(self) -> None:
        discover(machine(FIRST, AMD))
        discover(machine(nvml_error=""))
        assert [told(), told("GPU-a")] == [(False, Trouble.ABSENT)] * 2

    def test_what_the_driver_says_of_a_card_is_kept(self) -> None:
        discover(machine(replace(FIRST, healthy=False, trouble="restart"), replace(AMD, healthy=False)))
        assert [told(), told("GPU-a")] == [(False, Trouble.RESTART), (False, Trouble.DRIVER)]
        discover(machine(replace(FIRST, healthy=False, trouble="something new")))
        assert told() == (False, Trouble.DRIVER)

    def test_a_card_that_was_cut_by_hand_says_so(self) -> None:
        discover(machine(FIRST))
        discover(machine(replace(FIRST, mig=True)))
        assert told() == (False, Trouble.CUT)

    def test_since_when_it_is_unhealthy_is_when_it_became_so(self) -> None:
        discover(machine(FIRST))
        discover(machine())
        since = Accelerator.objects.get().unhealthy_since
        discover(machine(unread=(UnreadCard(0, "GPU-1", "GPU_IS_LOST"),)))
        assert Accelerator.objects.get().unhealthy_since == since


class TestReports:
    """What an agent sends, as JSON."""

    FULL = machine(
        replace(FIRST, healthy=False, trouble="reset"),
        unread=(UnreadCard(1, "GPU-2", "GPU_IS_LOST"),),
        faults=(fault(31, pid=7, text="Ch 1"), fault(79)),
        faults_unread="denied",
        nvml_error="UNKNOWN",
    )

    def test_all_of_it_arrives(self) -> None:
        assert Machine.from_json(json.loads(json.dumps(asdict(self.FULL)))) == self.FULL

    def test_an_agent_of_before_tells_nothing_of_it(self) -> None:
        told = json.loads(json.dumps(asdict(machine(FIRST))))
        for name in ("unread", "nvml_error", "boot_id", "faults", "faults_unread"):
            del told[name]
        del told["cards"][0]["trouble"]
        assert Machine.from_json(told) == machine(FIRST, boot_id="")

    @pytest.mark.parametrize(
        "nonsense",
        [
            {"boot_id": "no id"},
            {"boot_id": 5},
            {"faults_unread": "bored"},
            {"faults_unread": ["denied"]},
            {"faults": [{"code": 79}]},
            {"faults": "79"},
            {"faults": {"code": 79}},
            {"unread": [{"index": 0}]},
            {"unread": [5]},
        ],
    )
    def test_nonsense_is_refused(self, nonsense: dict[str, object]) -> None:
        with pytest.raises((KeyError, TypeError, ValueError)):
            Machine.from_json({**asdict(self.FULL), **nonsense})


class TestFaults:
    def test_a_fatal_one_keeps_work_away_until_the_machine_has_been_restarted(self) -> None:
        node = discover(machine(FIRST, SECOND, faults=(fault(48),)))
        assert [told(), told("GPU-2")] == [(False, Trouble.FAULT), (True, "")]
        assert node.boot_id in (BOOT, UUID(BOOT))
        discover(machine(FIRST, SECOND))  # the kernel's log is a ring: it forgets
        assert told() == (False, Trouble.FAULT)
        discover(machine(FIRST, SECOND, boot_id=str(uuid4())))
        assert told() == (True, "")
        assert CardFault.objects.count() == 1

    @pytest.mark.parametrize("code", [13, 31, 43, 45, 63, 92, 94, 4711])
    def test_others_are_only_kept(self, code: int) -> None:
        discover(machine(FIRST, faults=(fault(code, pid=7),)))
        assert told() == (True, "")
        found = CardFault.objects.get()
        assert (found.code, found.pid, found.process, found.is_fatal) == (code, 7, "python", False)

    def test_each_is_kept_once_with_its_first_and_its_last_time(self) -> None:
        discover(machine(FIRST, faults=(fault(31, 5_000_000, pid=7, text="one"), fault(31, 6_000_000, pid=8))))
        discover(machine(FIRST, faults=(fault(31, 9_000_000, pid=7, text="two"), fault(31, 6_000_000, pid=8))))
        discover(machine(FIRST, faults=(fault(31, 5_000_000, pid=7, text="one"),)))
        found = CardFault.objects.get(pid=7)
        assert (found.text, found.last_usec) == ("two", 9_000_000)
        assert found.last_at > found.at
        assert CardFault.objects.count() == 2

    def test_one_of_a_place_where_no_card_is_known_is_of_nobody(self) -> None:
        discover(machine(FIRST, AMD, faults=(fault(pci="0000:99:00"), fault(pci="0000:03:00"))))
        assert not CardFault.objects.exists()

    def test_of_two_cards_that_were_in_one_place_the_present_one_had_it(self) -> None:
        discover(machine(FIRST))
        discover(machine(replace(FIRST, uuid="GPU-new"), faults=(fault(),)))
        assert CardFault.objects.get().accelerator.uuid == "GPU-new"

    def test_a_machine_that_tells_no_start_of_its_own_has_no_faults(self) -> None:
        discover(machine(FIRST, boot_id="", faults=(fault(),)))
        assert told() == (True, "")
        assert not CardFault.objects.exists()

    def test_a_lost_card_is_called_lost_and_its_fault_is_kept(self) -> None:
        discover(machine(FIRST))
        discover(machine(unread=(UnreadCard(0, "", "GPU_IS_LOST"),), faults=(fault(79),)))
        assert told() == (False, Trouble.LOST)
        assert CardFault.objects.get().is_fatal

    def test_what_154_asks_for_last_counts(self) -> None:
        words = "GPU recovery action changed from 0x0 (None) to 0x{} (x)"
        discover(machine(FIRST, faults=(fault(154, 1, text=words.format(0)),)))
        assert told() == (True, "")
        discover(machine(FIRST, faults=(fault(154, 2, text=words.format(2)),)))
        assert told() == (False, Trouble.FAULT)
        discover(machine(FIRST, faults=(fault(154, 3, text=words.format(0)),)))
        assert told() == (True, "")


class TestResets:
    def test_after_it_the_card_takes_work_at_once_and_stays_well(self) -> None:
        discover(machine(FIRST, faults=(fault(48), fault(95))))
        reset()
        assert told() == (True, "")
        discover(machine(FIRST, faults=(fault(48), fault(95))))
        assert told() == (True, "")
        entry = last_entry("card.reset")
        assert (entry.target_label, entry.before) == ("box / 0", {"faults": [48, 95]})

    def test_one_that_comes_after_it_stands_again(self) -> None:
        discover(machine(FIRST, faults=(fault(48),)))
        reset()
        discover(machine(FIRST, faults=(fault(48, usec=2_000_000),)))
        assert told() == (False, Trouble.FAULT)
        found = CardFault.objects.get()
        assert (found.resolved_at, found.resolved_by) == (None, "")

    def test_a_lost_card_stays_lost(self) -> None:
        discover(machine(FIRST))
        discover(machine(unread=(UnreadCard(0, "", "GPU_IS_LOST"),), faults=(fault(79),)))
        reset()
        assert told() == (False, Trouble.LOST)

    def test_without_a_fault_there_is_nothing_to_confirm(self) -> None:
        discover(machine(FIRST, faults=(fault(31),)))
        with pytest.raises(Conflict):
            reset()
        assert count_entries("card.reset") == 0

    def test_only_who_manages_nodes_says_so(self) -> None:
        discover(machine(FIRST, faults=(fault(48),)))
        finance = staff_actor(make_staff(PlatformRole.FINANCE))
        with acting(finance), pytest.raises(Denied):
            services.confirm_reset(finance, card_id=Accelerator.objects.get().pk)
        assert told() == (False, Trouble.FAULT)

    def test_a_card_that_is_not_there_is_not_found(self) -> None:
        with acting(platform()) as actor, pytest.raises(NotFound):
            services.confirm_reset(actor, card_id=uuid4())
