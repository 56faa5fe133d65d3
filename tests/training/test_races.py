"""The same submission twice at once, on two connections."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection

from apps.common.idempotency import KeyReused
from apps.common.scoping import acting
from apps.envs.choices import KIND as ENVIRONMENT
from apps.envs.models import Environment
from apps.envs.services import create as environments
from apps.storage import services as storage
from apps.storage.models import Folder
from apps.training import services
from apps.training.models import Run
from apps.workloads import services as workloads
from tests.builders import World, make_world, platform
from tests.training.kit import request_for, submit

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world() -> World:
    with acting(platform()):
        return make_world()


def at_once(world: World, call: Callable[[], Any], wait_in: tuple[Any, str]) -> list[Any]:
    """The call on two connections. Both have come to the function that `wait_in` names before either goes on."""
    barrier, (owner, name) = Barrier(2), wait_in
    function = getattr(owner, name)

    def waiting(*values: Any, **named: Any) -> Any:
        barrier.wait(60)
        return function(*values, **named)

    def one(_number: int) -> Any:
        try:
            with acting(world.actor):
                return call()
        finally:
            connection.close()

    with patch.object(owner, name, waiting), ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, range(2)))


def folders(home: Path) -> tuple[set[str], set[str]]:
    """Those that the database knows, and those on the disk."""
    with acting(platform()):
        known = {str(storage.root_of(folder)) for folder in Folder.objects.all()}
    return known, {str(path) for path in (home / "data").glob("*/*/*")}


def test_who_loses_a_race_for_a_key_leaves_no_folder(world: World, home: Path) -> None:
    request = request_for(world, key="k" * 32)
    first, second = at_once(world, lambda: services.submit(world.actor, request), (services, "_submit"))
    assert first.pk == second.pk
    with acting(platform()):
        run = Run.objects.select_related("code", "output").get()
        kept = {str(storage.root_of(folder)) for folder in (run.code, run.output)}
    assert folders(home) == (kept, kept)


def test_the_same_environment_twice_at_once_is_one_home(world: World, home: Path) -> None:
    request = environments.Request(
        name="mine", image_id=world.image.pk, package_id=world.package.pk, key="k" * 32, start=False
    )
    first, second = at_once(world, lambda: environments.create(world.actor, request), (environments, "_create"))
    assert first.pk == second.pk
    with acting(platform()):
        kept = {str(storage.root_of(Environment.objects.select_related("home").get().home))}
    assert folders(home) == (kept, kept)


def test_a_key_of_other_work_starts_nothing(world: World, home: Path) -> None:
    run = submit(world, key="k" * 32)
    before = folders(home)
    with acting(world.actor):
        asked = workloads.Submission(
            ENVIRONMENT, "other", run.workload.frozen_spec, world.package.pk, run.workload.price_version_id,
            "k" * 32, run.pk,
        )  # fmt: skip
        with pytest.raises(KeyReused):
            workloads.submit(world.actor, asked)
    assert folders(home) == before
