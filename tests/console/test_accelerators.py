"""Accelerators: every card with what is on it; its mode is switched only while nothing is."""

from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from apps.billing import services as billing
from apps.clusters.models import Accelerator, Node
from apps.common.scoping import acting
from apps.workloads import states
from apps.workloads.models import Attempt, Placement, Workload
from tests.builders import World, platform, submit_workload
from tests.console.kit import count_entries, last_entry, messages_of, page, post, text_of


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: LazySettings) -> None:
    settings.PLSTACK_HOME = tmp_path


@pytest.fixture
def cards(world: World) -> list[Accelerator]:
    """Four cards of a simulated driver, whose modes can be switched here."""
    Node.objects.filter(pk=world.node.pk).update(driver="simulated", last_seen_at=timezone.now())
    modes = ["whole", "mig", "vgpu", "whole"]
    models = ["H100", "H100", "H100", "Ascend 910B3"]
    vendors = ["nvidia", "nvidia", "nvidia", "huawei"]
    return [
        Accelerator.objects.create(
            node=world.node, uuid=f"GPU-{n}", index=n, vendor=vendors[n], model=models[n], memory_mib=81_920,
            mode=modes[n], limiter="simulated", utilisation_pct=40 + n, temperature_c=50 + n,
        )
        for n in range(4)
    ]  # fmt: skip


def held(world: World, card: Accelerator, **columns: object) -> Workload:
    with acting(world.actor):
        workload = submit_workload(world)
    with acting(platform()):
        owner = workload.organisation_id
        attempt = Attempt(id=uuid4(), organisation_id=owner, workload=workload, number=1, node=card.node)
        piece = Placement(
            organisation_id=owner, attempt=attempt, node=card.node, accelerator=card, cpu_milli=100, **columns
        )
        assert states.place(platform(), workload, attempt, [piece])
    return workload


def test_every_card_stands_with_its_mode_load_and_temperature(ops: Client, cards: list[Accelerator]) -> None:
    text = text_of(ops.get(page("accelerators")))
    for expected in ("MIG", "vGPU", "40%", "53°", "H100", "Ascend 910B3"):
        assert expected in text


def test_slices_are_drawn_where_they_lie(ops: Client, world: World, cards: list[Accelerator]) -> None:
    held(world, cards[1], device_memory_mib=40_960, core_milli=429, mig_start=4, mig_profile="3g.40gb")
    text = text_of(ops.get(page("accelerators"), {"card": str(cards[1].pk)}))
    assert "3g.40gb" in text
    assert world.organisation.name in text
    assert "It cannot be switched now" in text


def test_a_card_that_is_held_is_not_switched_and_the_work_is_named(
    ops: Client, world: World, cards: list[Accelerator]
) -> None:
    workload = held(world, cards[0], device_memory_mib=81_920, core_milli=1000, exclusive=True)
    response = post(ops, page("accelerator_mode", cards[0].pk), mode="shared", follow=True)
    assert workload.name in messages_of(response)[-1]
    cards[0].refresh_from_db()
    assert cards[0].mode == "whole"
    response = post(ops, page("node_mode", world.node.pk), mode="shared", follow=True)
    assert "card 0" in messages_of(response)[-1]
    assert set(Accelerator.objects.values_list("mode", flat=True)) == {"whole", "mig", "vgpu"}
    assert count_entries("card.mode") == 0


def test_before_a_switch_it_is_said_what_changes_for_whom(ops: Client, cards: list[Accelerator]) -> None:
    with acting(platform()):
        made = {
            mode: billing.create_package(
                platform(),
                spec=billing.PackageSpec(
                    name_en=f"H100 {mode}", name_zh=f"H100 {mode}", cpu_milli=1000, memory_mib=512, gpu_count=1,
                    gpu_model="H100", gpu_mode=mode, gpu_core_milli=429, gpu_memory_mib=40_960, mig_profile=profile,
                ),
                rate_fen_per_hour=Decimal(100),
            )
            for mode, profile in (("whole", ""), ("mig", "3g.40gb"), ("shared", ""))
        }  # fmt: skip
    text = text_of(ops.get(page("accelerator_mode", cards[0].pk), {"mode": "mig"}))
    assert "Give out card 0" in text
    assert f"Then these start on it: {made['mig'].name_en}." in text
    assert made["whole"].name_en in text
    assert made["shared"].name_en not in text
    assert 'name="seen" value="whole"' in text
    refused = text_of(ops.get(page("accelerator_mode", cards[3].pk), {"mode": "mig"}))
    assert "It will be refused: not on this model." in refused
    assert ops.get(page("accelerator_mode", cards[0].pk), {"mode": "none"}).status_code == 404


def test_the_second_of_two_tabs_changes_nothing(ops: Client, cards: list[Accelerator]) -> None:
    post(ops, page("accelerator_mode", cards[0].pk), mode="mig", seen="whole")
    response = post(ops, page("accelerator_mode", cards[0].pk), mode="shared", seen="whole", follow=True)
    assert "Somebody has switched this card meanwhile" in messages_of(response)[-1]
    cards[0].refresh_from_db()
    assert cards[0].mode == "mig"


def test_profiles_are_the_drivers_where_it_told_them(ops: Client, cards: list[Accelerator]) -> None:
    text = text_of(ops.get(page("accelerators"), {"card": str(cards[1].pk)}))
    assert "by its model" in text
    assert "3g.40gb" in text
    cut = {"name": "2g.21gb", "starts": [0, 2], "size": 2, "compute": 2, "memory_mib": 20_000, "maximum": 2}
    Accelerator.objects.filter(pk=cards[1].pk).update(mig_profiles=[cut])
    text = text_of(ops.get(page("accelerators"), {"card": str(cards[1].pk)}))
    assert "told by its driver" in text
    assert "2g.21gb" in text
    assert "3g.40gb" not in text


def test_a_free_card_is_switched_and_logged(ops: Client, cards: list[Accelerator]) -> None:
    post(ops, page("accelerator_mode", cards[0].pk), mode="mig")
    cards[0].refresh_from_db()
    assert cards[0].mode == "mig"
    entry = last_entry("card.mode")
    assert (entry.before, entry.after) == ({"mode": "whole"}, {"mode": "mig"})


def test_all_cards_of_a_node_are_switched_at_once(ops: Client, world: World, cards: list[Accelerator]) -> None:
    post(ops, page("node_mode", world.node.pk), mode="vgpu")
    assert set(Accelerator.objects.values_list("mode", flat=True)) == {"vgpu"}


def test_a_model_without_mig_is_not_cut_that_way(ops: Client, world: World, cards: list[Accelerator]) -> None:
    response = post(ops, page("accelerator_mode", cards[3].pk), mode="mig", follow=True)
    assert "Ascend 910B3" in messages_of(response)[-1]
    assert "Ascend 910B3" in messages_of(post(ops, page("node_mode", world.node.pk), mode="mig", follow=True))[-1]
    cards[2].refresh_from_db()
    assert cards[2].mode == "vgpu"
    assert post(ops, page("accelerator_mode", cards[0].pk), mode="nonsense").status_code == 404


def test_a_real_card_is_switched_by_its_machine_or_not_at_all(
    ops: Client, world: World, cards: list[Accelerator]
) -> None:
    Node.objects.filter(pk=world.node.pk).update(driver="local")
    response = post(ops, page("accelerator_mode", cards[0].pk), mode="mig", follow=True)
    assert "no NVIDIA driver" in messages_of(response)[-1]
    cards[0].refresh_from_db()
    assert cards[0].mode == "whole"


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({"mode": "mig"}, {1}),
        ({"model": "Ascend 910B3"}, {3}),
        ({"state": "used"}, {0}),
        ({"state": "free"}, {1, 3}),
        ({"state": "unwell"}, {2}),
        ({"q": "GPU-3"}, {3}),
        ({"q": "no such node"}, set()),
    ],
)
def test_cards_are_filtered(
    ops: Client, world: World, cards: list[Accelerator], query: dict[str, str], shown: set[int]
) -> None:
    held(world, cards[0], device_memory_mib=81_920, core_milli=1000)
    Accelerator.objects.filter(pk=cards[2].pk).update(healthy=False)
    groups = ops.get(page("accelerators"), query).context["groups"]
    assert {view.card.index for group in groups for view in group.cards} == shown


def test_finance_staff_see_no_cards_and_switch_none(finance: Client, cards: list[Accelerator]) -> None:
    assert finance.get(page("accelerators")).status_code == 403
    assert post(finance, page("accelerator_mode", cards[0].pk), mode="mig").status_code == 403
