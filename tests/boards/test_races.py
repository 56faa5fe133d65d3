"""Opened in two tabs at the same moment, on two connections: one TensorBoard, paid for once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection

from apps.billing.models import Hold
from apps.boards import selectors, services
from apps.boards.models import Board
from apps.common.scoping import acting
from tests.builders import World, make_world, platform
from tests.training.kit import submit

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world() -> World:
    with acting(platform()):
        return make_world()


def test_two_tabs_at_once_are_one(world: World) -> None:
    run = submit(world)
    barrier, look = Barrier(2), selectors.package_for

    def after_both_have_looked(*values: Any) -> Any:
        barrier.wait(60)
        return look(*values)

    def one(_number: int) -> services.Opened:
        try:
            with acting(world.actor):
                return services.open_board(world.actor, [run.pk])
        finally:
            connection.close()

    with patch.object(selectors, "package_for", after_both_have_looked), ThreadPoolExecutor(2) as pool:
        opened = list(pool.map(one, range(2)))
    assert sorted(each.is_new for each in opened) == [False, True]
    assert len({each.board.pk for each in opened}) == 1
    with acting(platform()):
        assert Board.objects.count() == 1
        assert Hold.objects.filter(workload_id=opened[0].board.workload_id).count() == 1
