"""Writers of the same run, merges and deletion, each on a connection of its own: nothing is lost, nothing doubled."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from unittest.mock import patch

import pytest
from django.db import connection, transaction

from apps.common.scoping import acting
from apps.tracking import merging
from apps.tracking.forgetting import forget
from apps.tracking.models import PointBatch, PointChunk, Series
from apps.tracking.points import Point
from apps.tracking.tracked_runs import RunGone
from apps.workloads.models import Workload
from tests.builders import make_world, platform, submit_workload
from tests.tracking.kit import AT, info, kept, ramp, record

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def workload() -> Workload:
    with acting(platform()):
        world = make_world()
    with acting(world.actor):
        return submit_workload(world)


def together(*acts: Callable[[], object]) -> None:
    def one(act: Callable[[], object]) -> object:
        try:
            with acting(platform()):
                return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        list(pool.map(one, acts))


def test_writers_merges_and_readers_at_once(workload: Workload) -> None:
    """Each writer's points stay in their order, and every reader sees each writer's first ones without a hole."""
    seen: list[int] = []

    def write(writer: int) -> None:
        for number in range(40):
            record(workload.pk, [Point("loss", float(writer), writer * 1000 + number, AT)])

    def merge() -> None:
        for _turn in range(40):
            merging.merge(workload.pk)

    def read() -> None:
        for _turn in range(40):
            if Series.objects.filter(run_id=workload.pk).exists():
                seen.append(holes(kept(workload.pk).steps.tolist()))

    with patch.object(merging, "FULL", 16):
        together(*(lambda writer=writer: write(writer) for writer in range(3)), merge, merge, read)  # type: ignore[misc]
        with acting(platform()):
            merging.merge(workload.pk)
    assert set(seen) <= {0}
    steps = kept(workload.pk).steps.tolist()
    assert sorted(steps) == [writer * 1000 + number for writer in range(3) for number in range(40)]
    assert holes(steps) == 0
    assert info(workload.pk).count == 120


def holes(steps: list[int]) -> int:
    """How many points are not the next one of their writer."""
    following = dict.fromkeys(range(3), 0)
    wrong = 0
    for step in steps:
        writer, number = divmod(step, 1000)
        wrong += number != following[writer]
        following[writer] = number + 1
    return wrong


def test_a_new_name_by_two_writers_at_once_is_one_series(workload: Workload) -> None:
    together(*(lambda: record(workload.pk, ramp(5)) for _writer in range(4)))
    assert len(kept(workload.pk)) == 20


def test_what_is_rolled_back_leaves_nothing(workload: Workload) -> None:
    record(workload.pk, ramp(2))
    with suppress(ZeroDivisionError), transaction.atomic():
        record(workload.pk, ramp(3))
        raise ZeroDivisionError
    assert len(kept(workload.pk)) == info(workload.pk).count == 2


def test_a_merge_that_dies_changes_nothing(workload: Workload) -> None:
    record(workload.pk, ramp(3))
    with (
        acting(platform()),
        patch.object(merging.codec, "pack", side_effect=ZeroDivisionError),
        pytest.raises(ZeroDivisionError),
    ):
        merging.merge(workload.pk)
    assert kept(workload.pk).steps.tolist() == [0, 1, 2]


def test_deletion_beside_a_writer_and_a_merge_leaves_nothing(workload: Workload) -> None:
    record(workload.pk, ramp(50))

    def write() -> None:
        for _turn in range(20):
            try:
                record(workload.pk, ramp(5))
            except RunGone:
                return

    together(write, lambda: merging.merge(workload.pk), lambda: forget(workload_id=workload.pk))
    with acting(platform()):
        assert not PointBatch.objects.exists()
        assert not PointChunk.objects.exists()
        assert not Series.objects.exists()
    with pytest.raises(RunGone):
        record(workload.pk, ramp(1))
