"""Opening TensorBoard on runs: what it becomes, who may, and what is refused with nothing left behind."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from apps.audit.models import Entry
from apps.billing.models import Hold, Package
from apps.boards import services
from apps.boards.kind import BOARD
from apps.boards.models import Board, BoardRun
from apps.boards.program import labels
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, DomainError, InsufficientFunds, Invalid, NotFound, QuotaExceeded
from apps.common.scoping import acting
from apps.tenants import quotas
from apps.tenants.choices import Role
from apps.tenants.models import Holding
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.boards.kit import open_board, put
from tests.builders import World, actor_of, make_member, make_organisation, make_package, make_world, platform
from tests.training.kit import submit

pytestmark = pytest.mark.django_db


def member(world: World, name: str, role: Role = Role.MEMBER) -> Actor:
    with acting(platform()):
        return actor_of(make_member(world.organisation, name, role), world.organisation)


def counts() -> tuple[int, ...]:
    with acting(platform()):
        rows: tuple[Any, ...] = (Board, BoardRun, Workload, Holding, Hold, Entry)
        return tuple(each.objects.count() for each in rows)


def refused(why: type[DomainError], call: Callable[[], object], words: str = "") -> None:
    """Nothing is left of it."""
    before = counts()
    with pytest.raises(why, match=words or None):
        call()
    assert counts() == before


class TestBecoming:
    def test_it_is_a_workload_that_sees_the_outputs_alone_and_only_reads(self, world: World) -> None:
        runs = [submit(world, name="digits"), submit(world, name="faces")]
        board = open_board(world, *runs)
        spec = board.workload.frozen_spec
        assert (board.workload.kind, board.workload.status) == ("tensorboard", Status.QUEUED)
        assert board.workload.name == "TensorBoard: digits v1 + 1"
        assert [(mount.source, mount.target, mount.read_only) for mount in spec.mounts] == [
            (runs[0].output.relative_path, "/workspace/runs/digits v1", True),
            (runs[1].output.relative_path, "/workspace/runs/faces v1", True),
        ]
        assert (spec.egress, spec.network, spec.secrets, spec.tools, spec.gpu) == (False, False, (), (), None)
        assert getattr(spec.image, "name", "") == "tensorboard"  # whatever the runs' own images are
        assert spec.argv[:5] == ("python", "-m", "tensorboard.main", "--logdir", "/workspace/runs")
        assert [(port.name, port.number) for port in spec.ports] == [("tensorboard", 6006)]
        assert board.workload.longest_s == 12 * 3600
        with acting(platform()):
            assert Hold.objects.filter(workload_id=board.workload_id).exists()
            assert Holding.objects.filter(holder_id=board.workload_id, resource=BOARD.quota_line).exists()
            told = Entry.objects.get(action="tensorboard.opened")
        assert told.after == {"runs": [str(run.pk) for run in runs]}

    def test_it_takes_the_cheapest_package_that_is_enough(self, world: World) -> None:
        with acting(platform()):
            cheap = make_package(rate_fen=36, memory_mib=1024)
            make_package(rate_fen=1, memory_mib=256)  # TensorBoard would run out of memory
            make_package(rate_fen=3, memory_mib=4096)
            Package.objects.filter(prices__rate_fen_per_hour=3).update(active=False)
        run = submit(world)
        assert open_board(world, run).workload.package_id == cheap.pk

    def test_the_package_may_be_named(self, world: World) -> None:
        with acting(platform()):
            make_package(rate_fen=36)
        run = submit(world)
        assert open_board(world, run, package_id=world.package.pk).workload.package_id == world.package.pk

    def test_runs_that_are_called_alike_get_names_of_their_own(self, world: World) -> None:
        runs = [submit(world, name="same"), submit(world, name="same"), submit(world, name="x" * 80)]
        assert labels(runs) == ["same v1", "same v1 (2)", f"{'x' * 50} v1"]
        assert len(open_board(world, *runs).workload.frozen_spec.mounts) == 3


class TestOnce:
    def test_the_same_runs_in_any_order_are_the_same_one(self, world: World) -> None:
        one, two = submit(world, name="a"), submit(world, name="b")
        first = open_board(world, one, two)
        assert open_board(world, two, one).pk == first.pk
        assert open_board(world, one).pk != first.pk
        with acting(world.actor):
            assert services.open_board(world.actor, [one.pk, two.pk, two.pk]).is_new is False

    @pytest.mark.parametrize("status", [Status.STOPPING, Status.STOPPED, Status.FAILED])
    def test_one_that_has_ended_or_is_about_to_is_opened_anew(self, world: World, status: Status) -> None:
        run = submit(world)
        first = put(open_board(world, run), status)
        second = open_board(world, run)
        assert (first.number, second.number) == (1, 2)
        assert first.pk != second.pk

    def test_two_people_have_one_each(self, world: World) -> None:
        run = submit(world)
        assert open_board(world, run).pk != open_board(world, run, actor=member(world, "dora", Role.ADMIN)).pk


class TestRefusing:
    def test_no_run_and_too_many(self, world: World) -> None:
        refused(Invalid, lambda: open_board(world), "at least one")
        runs = [submit(world, name=f"run{number}") for number in range(11)]
        refused(Invalid, lambda: open_board(world, *runs), "up to 10")
        assert len(open_board(world, *runs[:10]).workload.frozen_spec.mounts) == 10

    def test_runs_that_one_does_not_see(self, world: World) -> None:
        run = submit(world)
        bob, dora = member(world, "bob"), member(world, "dora", Role.ADMIN)
        with acting(platform()):
            elsewhere = make_world(role=Role.ADMIN)
        theirs = submit(elsewhere)
        refused(NotFound, lambda: open_board(world, run, actor=bob))
        refused(NotFound, lambda: open_board(world, run, theirs))
        refused(NotFound, lambda: open_board(elsewhere, run))
        with acting(world.actor):
            refused(NotFound, lambda: services.open_board(world.actor, [uuid4()]))
        assert open_board(world, run, actor=dora).owner_id == dora.user_id  # who manages colleagues' runs may

    def test_who_may_only_look(self, world: World) -> None:
        run, frank = submit(world), member(world, "frank", Role.FINANCE)
        refused(Denied, lambda: open_board(world, run, actor=frank))

    def test_more_than_the_quota(self, world: World) -> None:
        with acting(platform()):
            quotas.set_limit(platform(), organisation_id=world.organisation.pk, resource=BOARD.quota_line, limit=1)
        one, two = submit(world, name="a"), submit(world, name="b")
        open_board(world, one)
        refused(QuotaExceeded, lambda: open_board(world, two))

    def test_an_organisation_without_money(self, world: World) -> None:
        with acting(platform()):
            poor = make_organisation(balance_fen=0)
            anna = actor_of(make_member(poor, "anna"), poor)
        run = free_run(world, anna)
        refused(InsufficientFunds, lambda: open_board(world, run, actor=anna, package_id=world.package.pk))

    def test_no_package_that_would_do(self, world: World) -> None:
        run = submit(world)
        with acting(platform()):
            Package.objects.update(memory_mib=256)
        refused(Conflict, lambda: open_board(world, run), "No package without a GPU")
        refused(Invalid, lambda: open_board(world, run, package_id=999_999), "packages")


def free_run(world: World, actor: Actor) -> Run:
    """On a package that costs nothing."""
    with acting(platform()):
        free = make_package(rate_fen=0)
    return submit(world, actor, package_id=free.pk)
