"""What an organisation holds, was promised and deserves, worked out by hand."""

from dataclasses import replace

import pytest

from scheduler import Amount, Device, GpuRequest, Mode, Node, Queue, QueueLevel, Slice, Task
from scheduler.cells import Cells, Claim
from scheduler.shares import (
    AGING_PER_DAY,
    CATCH_UP_S,
    GuaranteeFit,
    Shares,
    amount_of,
    bundle_of_claim,
    bundle_of_claims,
    bundle_of_request,
    capacity,
    deserved,
    fraction,
    sum_bundles,
)

DAY = 86400.0
TOTAL = {"cpu_milli": 100_000, "memory_mib": 1000, "A100": 8000, "H100": 2000, "*": 10_000}


def organisation(name: str, **fields: object) -> Queue:
    return replace(Queue(QueueLevel.ORGANISATION, name, name), **fields)  # type: ignore[arg-type]


def promised(name: str = "lab", cpu_milli: int | None = None, memory: int | None = None, **cards: int) -> Queue:
    """`any_model` stands for all models together."""
    by_model = {"*" if model == "any_model" else model: milli for model, milli in cards.items()}
    return organisation(name, guarantee=Amount(cpu_milli, memory, by_model))


def card(name: str, model: str = "A100", mode: Mode = Mode.WHOLE, healthy: bool = True, share: int = 1000) -> Device:
    return Device(name, int(name[-1]), "nvidia", model, 81920, mode, healthy, share_milli=share)


def cells() -> Cells:
    node = Node("n0", "east", "main", 4000, 1024, (card("a0"), card("b1", "H100"), card("c2", healthy=False)))
    crowded = Node("n1", "east", "main", 8000, 2048, (card("d0", mode=Mode.SHARED, share=3000),))
    return Cells([node, crowded, replace(node, id="n2", schedulable=False), replace(node, id="n3", healthy=False)])


def cards(milli: int, model: str = "A100") -> dict[str, int]:
    return {"cpu_milli": 1000, "memory_mib": 1, model: milli, "*": milli}


def test_capacity_is_that_of_open_nodes_and_healthy_cards() -> None:
    assert capacity(cells()) == {"cpu_milli": 12_000, "memory_mib": 3072, "A100": 4000, "H100": 1000, "*": 5000}
    assert capacity(Cells([Node("n", "east", "main", 0, -1)])) == {"cpu_milli": 0, "memory_mib": 0}


def test_a_claim_counts_for_each_cards_model_and_for_all_together() -> None:
    claim = Claim(0, 2000, 512, (Slice("a0", 0, 1000), Slice("b1", 0, 500), Slice("a0", 0, 250)), "lab")
    taken = {"cpu_milli": 2000, "memory_mib": 512, "A100": 1250, "H100": 500, "*": 1750}
    assert bundle_of_claim(cells(), claim) == taken
    gone = replace(claim, slices=(Slice("pulled out", 0, 500),))
    assert bundle_of_claim(cells(), gone) == {"cpu_milli": 2000, "memory_mib": 512, "": 500, "*": 500}
    assert bundle_of_claims(cells(), [claim, gone]) == {**sum_bundles([taken, bundle_of_claim(cells(), gone)])}
    assert bundle_of_claims(cells(), [claim, claim]) == {name: 2 * amount for name, amount in taken.items()}


def test_what_a_task_asks_for_counts_all_its_members_and_its_model_where_it_names_one() -> None:
    task = Task("t", "lab", "", "u", 3, 0.0, 1000, 512)
    assert bundle_of_request(task, 3) == {"cpu_milli": 3000, "memory_mib": 1536}
    either = replace(task, gpu=GpuRequest(Mode.WHOLE, 2))
    assert bundle_of_request(either, 3) == {"cpu_milli": 3000, "memory_mib": 1536, "*": 6000}
    named = replace(task, gpu=GpuRequest(Mode.SHARED, 2, "A100", core_milli=250))
    assert bundle_of_request(named, 3) == {"cpu_milli": 3000, "memory_mib": 1536, "*": 1500, "A100": 1500}


def test_an_amount_is_read_by_resource() -> None:
    amount = Amount(1, 2, {"A100": 3})
    assert [amount_of(amount, each) for each in ("cpu_milli", "memory_mib", "A100", "H100")] == [1, 2, 3, None]


def test_the_largest_fraction_decides_and_what_there_is_none_of_counts_for_nothing() -> None:
    assert fraction({"cpu_milli": 10_000, "A100": 4000, "L40": 9000}, TOTAL) == 0.5
    assert fraction({"L40": 1}, {**TOTAL, "L40": 0}) == 0.0
    assert fraction({}, TOTAL) == 0.0
    assert Shares(TOTAL).parts({"A100": 2000}) == 250_000_000_000


@pytest.mark.parametrize(
    ("held", "asked", "claimed"),
    [
        (0, 2000, GuaranteeFit.INSIDE),
        (1000, 1000, GuaranteeFit.INSIDE),
        (1000, 1001, GuaranteeFit.ACROSS),
        (1999, 1000, GuaranteeFit.ACROSS),
        (2000, 1, GuaranteeFit.OUTSIDE),
        (2001, 0, GuaranteeFit.OUTSIDE),
    ],
)
def test_a_request_is_inside_its_promise_across_its_edge_or_outside(
    held: int, asked: int, claimed: GuaranteeFit
) -> None:
    shares = Shares(TOTAL, [promised(A100=2000)])
    shares.add("lab", {"A100": held, "*": held})
    bundle = {"cpu_milli": 99_000, "memory_mib": 9, "A100": asked or 1, "*": asked or 1}
    assert shares.guarantee_fit("lab", bundle) is claimed
    assert shares.within_guarantee("lab", bundle) is (claimed is GuaranteeFit.INSIDE)


def test_a_promise_is_of_its_model_alone_and_a_request_without_a_model_counts_against_all() -> None:
    shares = Shares(TOTAL, [promised(A100=1000, H100=1000)])
    assert shares.guarantee_fit("lab", cards(1000, "L40")) is GuaranteeFit.OUTSIDE
    assert shares.guarantee_fit("lab", {"cpu_milli": 1, "*": 2000}) is GuaranteeFit.INSIDE
    assert shares.guarantee_fit("lab", {"cpu_milli": 1, "*": 2001}) is GuaranteeFit.ACROSS
    assert shares.guarantee_fit("lab", {**cards(1000), "H100": 1500}) is GuaranteeFit.ACROSS
    assert shares.guarantee_fit("lab", {**cards(1000), "L40": 1}) is GuaranteeFit.OUTSIDE


def test_a_promise_over_all_models_covers_those_without_one_of_their_own() -> None:
    shares = Shares(TOTAL, [promised(any_model=2000, H100=500)])
    assert shares.lane_of("lab", cards(1000)) == "*"
    assert shares.lane_of("lab", cards(1000, "H100")) == "H100"
    assert shares.lane_of("lab", {"cpu_milli": 1, "*": 100}) == "*"
    assert shares.lane_of("lab", {"cpu_milli": 1}) == ""
    assert shares.lanes("lab") == ("*", "H100", "")


def test_without_cards_a_request_counts_against_the_promise_of_cpu() -> None:
    shares = Shares(TOTAL, [promised(cpu_milli=5000, H100=1000, A100=1000)])
    assert shares.guarantee_fit("lab", {"cpu_milli": 5000, "memory_mib": 9, "*": 0, "A100": 0}) is GuaranteeFit.INSIDE
    assert shares.guarantee_fit("lab", {"cpu_milli": 5001, "memory_mib": 9}) is GuaranteeFit.ACROSS
    assert shares.lane_of("lab", {"cpu_milli": 1, "memory_mib": 9}) == "cpu_milli"
    assert shares.lanes("lab") == ("cpu_milli", "*", "A100", "H100", "")


def test_who_was_promised_nothing_claims_nothing() -> None:
    shares = Shares(TOTAL, [promised(A100=1000), organisation("other"), promised("zero", 0, 0, A100=0)])
    assert [shares.is_guaranteed(each) for each in ("lab", "other", "zero", "unknown")] == [True, False, False, False]
    for name in ("other", "zero", "unknown"):
        assert shares.guarantee_fit(name, cards(1)) is GuaranteeFit.OUTSIDE
        assert shares.lanes(name) == ("",)
        assert shares.lane_of(name, cards(1)) == ""
    assert Shares(TOTAL, [promised(memory=1)]).is_guaranteed("lab")
    assert Shares(TOTAL).guarantee_fit("lab", {}) is GuaranteeFit.OUTSIDE


def test_only_organisations_have_promises_and_weights() -> None:
    shares = Shares(TOTAL, [replace(promised(A100=1000), level=QueueLevel.DEPARTMENT, weight=4.0)])
    assert not shares.has_guarantees
    assert (shares.is_guaranteed("lab"), shares.weight("lab")) == (False, 1.0)
    shares.set_queues([replace(promised(A100=1000), weight=4.0), organisation("odd", weight=0.0)])
    assert shares.has_guarantees
    assert [shares.weight(each) for each in ("lab", "odd", "unknown")] == [4.0, 1.0, 1.0]


def test_a_guarantee_is_kept_while_what_is_left_is_not_below_it() -> None:
    shares = Shares(TOTAL, [promised(cpu_milli=2000, A100=1000)])
    shares.add("lab", {"cpu_milli": 3000, "A100": 2000, "*": 2000})
    assert shares.above_guarantee("lab", {"cpu_milli": 3000, "A100": 1000, "*": 1000})
    assert not shares.above_guarantee("lab", {"cpu_milli": 3000, "A100": 1001, "*": 1001})
    assert shares.above_guarantee("lab", {"cpu_milli": 1000, "A100": 0})
    assert not shares.above_guarantee("lab", {"cpu_milli": 1001})
    assert shares.above_guarantee("unknown", {})
    assert not Shares(TOTAL, [promised(cpu_milli=1)]).above_guarantee("lab", {})


def test_a_guarantee_over_all_models_is_kept_by_any_of_them() -> None:
    shares = Shares(TOTAL, [promised(any_model=1000)])
    shares.add("lab", {**cards(2000), "H100": 500, "*": 2500})
    assert shares.above_guarantee("lab", cards(1500))
    assert not shares.above_guarantee("lab", cards(1501))


def test_what_is_held_or_reserved_makes_the_dominant_share() -> None:
    shares = Shares(TOTAL)
    shares.add("lab", {"cpu_milli": 10_000, "A100": 800})
    assert shares.dominant("lab") == 0.1
    shares.add_reserved("lab", {"A100": 1200, "memory_mib": 200})
    assert shares.dominant("lab") == 0.25
    shares.add_reserved("lab", {"A100": 1200}, -1)
    assert shares.dominant("lab") == 0.2
    shares.add("lab", {"cpu_milli": 40_000})
    shares.add("lab", {"cpu_milli": 20_000}, -1)
    assert shares.dominant("lab") == 0.3
    assert (shares.used["lab"]["cpu_milli"], shares.changes["lab"]) == (30_000, 3)
    assert shares.dominant("other") == 0.0


def test_waiting_is_a_small_credit_with_a_limit() -> None:
    shares = Shares(TOTAL, [organisation("lab", weight=2.0)])
    shares.add("lab", {"A100": 4000})
    assert shares.standing("lab") == pytest.approx(0.25)
    assert shares.standing("lab", DAY) == pytest.approx(0.25 - AGING_PER_DAY)
    assert shares.standing("lab", -DAY) == pytest.approx(0.25)
    assert shares.standing("lab", 365 * DAY) == pytest.approx(0.25 - 0.1)


def test_recent_use_counts_against_the_median_of_those_that_wait_up_to_two_equal_shares() -> None:
    hour = TOTAL["*"] * CATCH_UP_S  # of the whole cluster
    recent = {"none": 0.0, "some": 0.5 * hour, "lab": 0.6 * hour, "more": 9.0 * hour}
    shares = Shares(TOTAL, [organisation(name, decayed_usage={"*": used}) for name, used in recent.items()])
    shares.set_baseline(["none", "some", "more"])
    assert [shares.standing(name) for name in recent] == pytest.approx([-0.5, 0.0, 0.1, 2 / 3])
    shares.set_baseline(["none", "some", "lab", "more"])
    assert [shares.standing(name) for name in recent] == pytest.approx([-0.5, -0.1, 0.0, 0.5])
    shares.set_baseline([])
    assert shares.standing("more") == 0.0


def test_recent_use_counts_per_unit_of_weight() -> None:
    hour = TOTAL["*"] * CATCH_UP_S
    heavy = organisation("heavy", decayed_usage={"*": 0.4 * hour}, weight=4.0)
    shares = Shares(TOTAL, [heavy, organisation("idle")])
    shares.set_baseline(["idle", "unknown", "idle"])
    assert shares.standing("heavy") == pytest.approx(0.1)
    assert Shares({"cpu_milli": 1}, [heavy]).standing("heavy") == 0.0


def test_recent_use_is_of_the_resource_that_was_used_most() -> None:
    hour = {resource: amount * CATCH_UP_S for resource, amount in TOTAL.items()}
    for resource in ("cpu_milli", "memory_mib"):
        lately = {"*": 0.1 * hour["*"], "cpu_milli": 0.2 * hour["cpu_milli"], "memory_mib": 0.2 * hour["memory_mib"]}
        lately[resource] = 0.4 * hour[resource]
        shares = Shares(TOTAL, [organisation("lab", decayed_usage=lately), organisation("idle")])
        shares.set_baseline(["idle", "idle", "lab"])
        assert shares.standing("lab") == pytest.approx(0.4)


def test_before_anybody_waits_nobody_has_an_equal_share() -> None:
    assert not Shares(TOTAL).stays_within_equal_share("lab", {"A100": 1})


def test_an_equal_share_is_by_weight_among_all_that_wait_or_hold_something() -> None:
    shares = Shares(TOTAL, [organisation("lab", weight=2.0), organisation("gone")])
    shares.add("holder", {"A100": 1000})
    shares.add("gone", {"A100": 0})
    shares.set_baseline(["lab", "other"])  # with the holder: 2 + 1 + 1 parts
    assert shares.stays_within_equal_share("lab", {"A100": 4000})
    assert not shares.stays_within_equal_share("lab", {"A100": 4001})
    assert shares.stays_within_equal_share("holder", {"A100": 1000})
    assert not shares.stays_within_equal_share("holder", {"A100": 1001})
    assert [shares.holds_equal_share(name) for name in ("lab", "holder")] == [False, False]
    shares.add("holder", {"A100": 1000})
    shares.add_reserved("lab", {"A100": 8000})
    shares.add("lab", {"A100": 3000})
    assert [shares.holds_equal_share(name) for name in ("lab", "holder")] == [False, True]
    shares.add("lab", {"A100": 1000})
    assert shares.holds_equal_share("lab")


def test_deserved_shares_by_hand() -> None:
    demand = {"a": 10.0, "b": 10.0, "c": 1.0}
    assert deserved(12, {}, {}, demand) == pytest.approx({"a": 5.5, "b": 5.5, "c": 1.0})
    assert deserved(12, {"a": 6}, {"a": 1, "b": 2, "c": 3}, demand) == pytest.approx(
        {"a": 7 + 2 / 3, "b": 10 / 3, "c": 1}
    )
    assert deserved(4, {"a": 6, "b": 2}, {}, demand) == pytest.approx({"a": 3.0, "b": 1.0, "c": 0.0})
    assert deserved(100, {"a": 60}, {}, demand) == pytest.approx(demand)
    assert deserved(0, {}, {}, demand) == {"a": 0.0, "b": 0.0, "c": 0.0}
    assert deserved(1, {}, {}, demand) == pytest.approx(dict.fromkeys("abc", 1 / 3))
    assert deserved(10, {}, {}, {"a": 2.0, "b": 3.0}) == pytest.approx({"a": 2.0, "b": 3.0})
