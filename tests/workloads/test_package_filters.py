"""Which packages of a form are found by which filter, and which filters are offered."""

import pytest

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.clusters.simulation import without_mark
from apps.common.scoping import acting
from apps.workloads.fit.hints import hints_after
from apps.workloads.offers.package_filters import FITS, ISOLATED, NOW, facets, filters_of
from apps.workloads.offers.picker import PackageChoice, package_choices
from tests.builders import World
from tests.workloads.test_fit import GB, Shop, offer, ran, shop

__all__ = ["shop"]  # a fixture


def choices(world: World) -> dict[int, PackageChoice]:
    with acting(world.actor):
        return {each.package.pk: each for each in package_choices(world.actor, list(funds.packages(world.actor)))}


def test_a_row_has_the_facets_of_its_model_isolation_and_start(world: World, shop: Shop) -> None:
    rows = choices(world)
    assert facets(rows[shop.mig.pk], {}) == {"model:A100-80G", ISOLATED, FITS}, "the world's machine has no card"
    assert facets(rows[shop.vgpu.pk], {}) == {"model:A100-80G", FITS}
    assert facets(rows[world.package.pk], {}) == {"model:", NOW, FITS}


def test_spaces_in_a_model_do_not_part_its_facet(world: World) -> None:
    spaced = offer(100, "whole", 1000, 24 * GB, gpu_model="RTX 4090")
    assert "model:RTX_4090" in facets(choices(world)[spaced.pk], {})


def test_what_the_last_run_outgrew_does_not_fit(world: World, shop: Shop) -> None:
    before, rows = ran(world, shop.whole, peak_gpu_memory_mib=30 * GB, peak_gpu_util_pct=20.0), choices(world)
    with acting(world.actor):
        known = hints_after(before, [each.package for each in rows.values()])
    fitting = {key for key, row in rows.items() if FITS in facets(row, known)}
    assert {shop.mig.pk, shop.whole.pk} <= fitting
    assert not {shop.vgpu.pk, shop.shared.pk} & fitting
    found = filters_of(list(rows.values()), known)
    assert found is not None
    assert next(each.count for each in found.conditions if each.facet == FITS) == len(fitting)
    assert hints_after(None, [shop.whole]) == {}


def test_without_a_price_a_package_starts_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    row = choices(world)[world.package.pk]
    monkeypatch.setattr(Package, "price", None)
    assert NOW not in facets(row, {})


def test_only_filters_that_tell_something_apart_are_offered(world: World, shop: Shop) -> None:
    found = filters_of(list(choices(world).values()), {})
    assert found is not None
    assert {(each.label, each.count) for each in found.models} == {("No GPU", 2), (shop.whole.gpu_model, 4)}
    assert {each.facet for each in found.conditions} == {NOW, ISOLATED}, "all fit as far as is known"


def test_few_packages_are_read_as_they_are(world: World) -> None:
    assert filters_of(list(choices(world).values()), {}) is None


@pytest.mark.parametrize("name", ["H100 whole card (simulated)", "H100 whole card"])
def test_beside_the_badge_the_name_does_not_say_it_again(name: str) -> None:
    assert without_mark(name) == "H100 whole card"
    assert without_mark("H100 整卡（模拟）") == "H100 整卡"
