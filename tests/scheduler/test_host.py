"""One node on which changes are tried: what fits there, of whole cards, shares and partitions."""

from dataclasses import replace

from scheduler import Device, GpuRequest, Mode, Node, Task
from scheduler.cells import Cells
from scheduler.demand import Demand, demand_of
from scheduler.host import Host, host_of

CARD = Device("c", 0, "nvidia", "A100", 81920)


def host(mode: Mode) -> Host:
    return host_of(Cells([Node("n", "east", "main", 64000, 655360, (replace(CARD, mode=mode),))]), 0)


def demand(gpu: GpuRequest, organisation: str = "lab") -> Demand:
    return demand_of(Task("t", organisation, "", "u", 3, 0.0, 1000, 1024, gpu))


def partition(profile: str) -> Demand:
    return demand(GpuRequest(Mode.MIG, profile=profile))


def take(on: Host, asked: Demand) -> bool:
    """Whether it fits; it is there then."""
    claim = on.fits(asked)
    if claim is not None:
        on.take(claim)
    return claim is not None


def test_a_full_card_has_no_place_for_a_partition() -> None:
    full = host(Mode.MIG)
    assert take(full, partition("7g.80gb"))
    assert not take(full, partition("1g.10gb"))


def test_a_profile_fits_as_often_as_its_maximum_says_even_where_there_is_room() -> None:
    engines = host(Mode.MIG)
    assert take(engines, partition("1g.10gb+me"))
    assert not take(engines, partition("1g.10gb+me"))
    assert take(engines, partition("1g.10gb"))


def test_a_shared_card_is_open_to_all_while_it_is_empty_and_then_to_one_organisation() -> None:
    share = GpuRequest(Mode.SHARED, core_milli=250, memory_mib=1024)
    card = host(Mode.SHARED)
    assert take(card, demand(share))
    assert take(card, demand(share))
    assert not take(card, demand(share, "other"))
