"""What cards do next, what sits on each, which pieces nobody can use; who gave way, and what was foretold."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.billing import services as billing
from apps.billing.models import Package
from apps.clusters.models import Accelerator, Node
from apps.common.scoping import acting
from apps.console.queue.selectors import lanes as future
from apps.console.queue.selectors.focus import Focus
from apps.console.queue.selectors.lanes import Lane, Span
from apps.workloads.choices import PreemptionOutcome, PreemptionWhy
from apps.workloads.models import StartEstimate, Workload
from tests.builders import World, platform, unique
from tests.console.kit import page, text_of
from tests.console.queue_kit import CARD, asked, holds, in_reach, make_card, other_world, passed, waits


@pytest.fixture(autouse=True)
def reach(world: World) -> None:
    in_reach()


@pytest.fixture
def cards(world: World) -> list[Accelerator]:
    return [make_card(world.node, index) for index in range(4)]


def ended(world: World, seconds: float, times: int = 8) -> None:
    """Runs of an hour have ended, for the scheduler to learn from."""
    now = timezone.now()
    for _number in range(times):
        workload = waits(world)
        with acting(platform()):
            Workload.objects.filter(pk=workload.pk).update(
                status="succeeded", started_at=now - timedelta(seconds=seconds), ended_at=now
            )


def promised(workload: Workload, node: Node, in_minutes: float | None) -> None:
    start = None if in_minutes is None else (timezone.now() + timedelta(minutes=in_minutes)).timestamp()
    with acting(platform()):
        workload.explanation |= {"start_p50": start, "start_p90": start}
        Workload.objects.filter(pk=workload.pk).update(
            promised_nodes=[str(node.pk)], promised_at=timezone.now(), explanation=workload.explanation
        )


def lanes() -> list[Lane]:
    with acting(platform()):
        return future.lanes(Focus(), future.nodes(Focus()))


def spans(lane: Lane) -> list[Span]:
    return [block.span for block in lane.blocks]


def test_a_run_nobody_can_foretell_fades_and_free_cards_share_a_lane(world: World, cards: list[Accelerator]) -> None:
    holds(world, cards[0])
    busy, free = lanes()
    assert (busy.first, busy.last, spans(busy)) == (0, 0, [Span.MAYBE])
    assert busy.blocks[0].end is None
    assert (free.first, free.last, free.blocks) == (1, 3, ())


def test_a_run_is_drawn_until_half_and_nine_in_ten_such_runs_have_ended(world: World, cards: list[Accelerator]) -> None:
    ended(world, 3600, times=12)
    holds(world, cards[0], cards[1])
    lane = lanes()[0]
    assert (lane.first, lane.last) == (0, 1)
    assert spans(lane)[0] is Span.RUNS
    end = lane.blocks[0].end
    assert end is not None
    assert timedelta(minutes=50) < end - timezone.now() < timedelta(minutes=80)


def test_kept_room_takes_the_cards_that_are_free_first_and_leaves_a_gap_to_fill(
    ops: Client, world: World, cards: list[Accelerator]
) -> None:
    holds(world, cards[0])
    workload = waits(world, "big one", count=2)
    promised(workload, world.node, in_minutes=90)
    _busy, kept, free = lanes()
    assert (kept.first, kept.last) == (1, 2)
    assert spans(kept) == [Span.GAP, Span.KEPT]
    assert kept.blocks[1].workloads == (workload,)
    assert (free.first, free.last, free.blocks) == (3, 3, ())
    text = text_of(ops.get(page("queue_part", "reservations")))
    assert "kept for big one" in text
    assert "1 h 29 min" in text or "1 h 30 min" in text


def test_two_promises_do_not_stand_on_one_card_at_once(world: World, cards: list[Accelerator]) -> None:
    for name in ("one", "two"):
        promised(waits(world, name, count=2), world.node, in_minutes=30)
    drawn = lanes()
    assert [(lane.first, lane.last) for lane in drawn] == [(0, 1), (2, 3)]
    assert [lane.blocks[-1].workloads[0].name for lane in drawn] == ["one", "two"]


def test_kept_room_is_drawn_on_cards_of_a_mode_that_will_do(world: World) -> None:
    for index, mode in enumerate(("mig", "shared", "whole", "whole")):
        make_card(world.node, index, mode=mode)
    promised(waits(world, count=2), world.node, 0)
    drawn = [(lane.first, lane.last, spans(lane)) for lane in lanes()]
    assert drawn == [(0, 1, []), (2, 3, [Span.KEPT])]


def test_a_task_that_was_asked_to_leave_is_drawn_as_leaving(world: World, cards: list[Accelerator]) -> None:
    asked(holds(world, cards[0]), waits(world))
    assert spans(lanes()[0]) == [Span.LEAVES]


def test_names_of_work_are_for_those_who_may_see_work(
    root: Client, ops: Client, world: World, cards: list[Accelerator]
) -> None:
    workload = holds(world, cards[0])
    for name in ("queue", "queue_cards"):
        assert workload.name in text_of(ops.get(page(name)))


def offered(model: str = CARD, **columns: Any) -> Package:
    name = unique("Card package")
    asks: dict[str, Any] = {
        "cpu_milli": 1000, "memory_mib": 1024, "gpu_count": 1, "gpu_model": model, "gpu_mode": "whole",
        "gpu_core_milli": 1000, "gpu_memory_mib": 81_920, **columns,
    }  # fmt: skip
    spec = billing.PackageSpec(name_en=name, name_zh=name, **asks)
    with acting(platform()):
        return billing.create_package(platform(), spec=spec, rate_fen_per_hour=Decimal(100))


def fragments(client: Client) -> Any:
    passed()
    return client.get(page("queue_part", "fragments")).context["part"]


def test_idle_cards_too_few_for_any_package_are_fragments(ops: Client, world: World, cards: list[Accelerator]) -> None:
    pairs = offered(gpu_count=2)
    holds(world, *cards[:3])
    part = fragments(ops)
    [line] = part["lines"]
    assert (line.use.used_milli, line.free_milli, line.fragment_milli, line.starved_milli) == (3000, 0, 1000, 0)
    assert (line.spots[0].node, line.spots[0].index, line.largest) == (world.node.name, 3, None)
    singles = offered()
    [line] = fragments(ops)["lines"]
    assert (line.free_milli, line.fragment_milli, line.largest) == (1000, 0, singles)
    assert pairs.name_en not in text_of(ops.get(page("queue_part", "fragments")))


def test_only_cards_that_can_be_given_whole_count_as_such(ops: Client, world: World, cards: list[Accelerator]) -> None:
    Accelerator.objects.filter(pk=cards[0].pk).update(mode="mig")
    Accelerator.objects.filter(pk=cards[1].pk).update(mode="shared")
    [line] = fragments(ops)["lines"]
    assert line.most_whole == 2
    holds(world, cards[3])
    [line] = fragments(ops)["lines"]
    assert line.most_whole == 1


def test_cards_without_cpu_beside_them_are_stranded(ops: Client, world: World, cards: list[Accelerator]) -> None:
    offered(cpu_milli=32_000)
    Node.objects.filter(pk=world.node.pk).update(cpu_milli=8_000)
    [line] = fragments(ops)["lines"]
    assert (line.fragment_milli, line.starved_milli) == (4000, 4000)
    head = ops.get(page("queue_part", "head")).context["part"]["strip"][3]
    assert (head["value"], head["sub"]) == ("100.0%", "4 stranded for lack of CPU or memory")


def test_without_a_package_for_the_model_nothing_is_called_a_fragment(
    ops: Client, world: World, cards: list[Accelerator]
) -> None:
    [line] = fragments(ops)["lines"]
    assert (line.offered, line.fragment_milli, line.free_milli) == (False, 0, 4000)
    assert "no package on offer uses this model" in text_of(ops.get(page("queue_part", "fragments")))


def test_a_shared_card_is_of_use_to_those_whom_it_serves(ops: Client, world: World) -> None:
    offered(gpu_mode="shared", gpu_core_milli=125, gpu_memory_mib=10_240)
    card = make_card(world.node, 0, mode="shared")
    workload = holds(world, card)
    with acting(platform()):
        workload.attempts.get().placements.update(core_milli=125, device_memory_mib=10_240, exclusive=False)
    [line] = fragments(ops)["lines"]
    assert line.fragment_milli == 0


def test_every_card_is_drawn_with_what_sits_on_it(ops: Client, world: World, cards: list[Accelerator]) -> None:
    offered(gpu_count=4)
    workload = holds(world, cards[0])
    Accelerator.objects.filter(pk=cards[1].pk).update(healthy=False)
    passed()
    response = ops.get(page("queue_cards"))
    assert [view.card.index for group in response.context["groups"] for view in group.cards] == [0, 1, 2, 3]
    text = text_of(response)
    assert f"{workload.name} · {world.organisation.name}" in text
    assert text.count("pl-slice frag") == 3  # one in the legend
    assert text.count("pl-slice pl-hatch") == 2
    assert not ops.get(page("queue_cards"), {"q": "no such machine"}).context["groups"]


def test_who_gave_way_to_whom_is_listed_with_what_it_cost(
    ops: Client, finance: Client, world: World, cards: list[Accelerator]
) -> None:
    other = other_world()
    victim, gainer = holds(world, cards[0]), waits(other, "the one in need")
    asked(victim, gainer, outcome=PreemptionOutcome.REQUEUED, lost_s=600.0, credited_fen=120, ended_at=timezone.now())
    asked(holds(world, cards[1]), gainer, why=PreemptionWhy.HIGHER_PRIORITY)
    response = ops.get(page("queue_preemptions"))
    text = text_of(response)
    for expected in (victim.name, "the one in need", other.organisation.name, "10 min", "¥1.20"):
        assert expected in text
    days = response.context["days"]
    counted = ("asked", "for_guarantee", "for_priority", "gave_way", "lost_s", "credited_fen")
    # Of the last two days: a minute ago, when they were asked, may have been yesterday.
    assert [sum(getattr(day, name) for day in days[-2:]) for name in counted] == [2, 1, 1, 1, 600.0, 120]
    assert len(days) == 14
    assert finance.get(page("queue_preemptions")).status_code == 403


def test_nobody_gave_way_says_what_giving_way_is(ops: Client, world: World) -> None:
    assert "No task has given way yet" in text_of(ops.get(page("queue_preemptions")))


def test_past_estimates_are_scored_by_cause_and_size(ops: Client, world: World, cards: list[Accelerator]) -> None:
    assert "No estimate has been put to the test yet" in text_of(ops.get(page("queue_estimates")))
    now = timezone.now()
    for minutes in (5, 15, 15, 40):
        workload = waits(world)
        with acting(platform()):
            StartEstimate.objects.create(
                organisation_id=workload.organisation_id, workload=workload, cause="devices",
                start_p50=now + timedelta(minutes=10), start_p90=now + timedelta(minutes=20),
                started_at=now + timedelta(minutes=minutes),
            )  # fmt: skip
    response = ops.get(page("queue_estimates"))
    assert [cell["value"] for cell in response.context["strip"]] == ["4", "25.0%", "50.0%", "25.0%"]
    assert "one card" in text_of(response)
    assert "cards short" in text_of(response)
