"""A board ends by itself when nobody looks, and is shut to an owner who may not see its runs any more."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.boards.choices import IDLE_MINUTES
from apps.boards.models import Board
from apps.boards.reconcile.ending import end_unused
from apps.common.errors import DomainError, NotFound
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Membership, User
from apps.workloads import activity
from apps.workloads.choices import Reason, Source, Status
from apps.workloads.models import Activity
from apps.workloads.permissions import may_open_port, may_use_terminal
from tests.boards.kit import again, open_board, put
from tests.builders import World, actor_of, make_member, platform
from tests.training.kit import submit

pytestmark = pytest.mark.django_db


def minutes_ago(number: float) -> dict[str, object]:
    moment = timezone.now() - timedelta(minutes=number)
    return {"status_since": moment, "started_at": moment}


def turn() -> int:
    with acting(platform()):
        return end_unused(platform())


class TestNobodyLooks:
    def test_it_ends_after_the_time_and_not_before(self, world: World) -> None:
        fresh = put(open_board(world, submit(world)), Status.RUNNING, **minutes_ago(IDLE_MINUTES - 1))
        old = put(open_board(world, submit(world)), Status.RUNNING, **minutes_ago(IDLE_MINUTES + 1))
        assert turn() == 1
        assert again(fresh).workload.status == Status.RUNNING
        ending = again(old).workload
        assert (ending.status, ending.reason) == (Status.STOPPING, Reason.IDLE)
        assert turn() == 0

    def test_a_look_keeps_it(self, world: World) -> None:
        board = put(open_board(world, submit(world)), Status.RUNNING, **minutes_ago(600))
        with acting(platform()):
            activity.record_request(board.workload_id, Source.GATEWAY, process="one")
        assert turn() == 0
        with acting(platform()):
            late = timezone.now() - timedelta(minutes=IDLE_MINUTES + 1)
            Activity.objects.filter(workload=board.workload_id).update(last_request_at=late)
        assert turn() == 1

    def test_what_waits_is_not_idle(self, world: World) -> None:
        put(open_board(world, submit(world)), Status.QUEUED, **minutes_ago(600))
        assert turn() == 0


class TestRightsEnd:
    """Dora manages the organisation's runs, and looks at one of Alice's."""

    @pytest.fixture
    def dora(self, world: World) -> User:
        with acting(platform()):
            return make_member(world.organisation, "dora", Role.ADMIN)

    @pytest.fixture
    def board(self, world: World, dora: User) -> Board:
        return put(open_board(world, submit(world), actor=actor_of(dora, world.organisation)), Status.RUNNING)

    def enters(self, board: Board, user: User) -> None:
        actor = actor_of(user, board.organisation)
        with acting(actor):
            may_open_port(actor, board.workload, "tensorboard")
            may_use_terminal(actor, board.workload)

    def test_she_is_shut_out_at_once_and_it_ends(self, world: World, board: Board, dora: User) -> None:
        self.enters(board, dora)
        assert turn() == 0
        with acting(platform()):
            Membership.objects.filter(user=dora).update(role=Role.MEMBER)
        actor = actor_of(dora, world.organisation)
        with acting(actor):
            for call in (may_open_port, may_use_terminal):
                with pytest.raises(NotFound):
                    call(actor, board.workload, *(["tensorboard"] if call is may_open_port else []))
        assert turn() == 1
        ending = again(board).workload
        assert (ending.status, ending.reason) == (Status.STOPPING, Reason.UNAUTHORISED)

    def test_it_ends_before_it_has_started_too(self, world: World, board: Board, dora: User) -> None:
        put(board, Status.QUEUED, started_at=None)
        with acting(platform()):
            Membership.objects.filter(user=dora).delete()
        assert turn() == 1
        assert again(board).workload.status == Status.STOPPED

    def test_an_account_that_is_disabled(self, board: Board, dora: User) -> None:
        with acting(platform()):
            User.objects.filter(pk=dora.pk).update(is_active=False)
        assert turn() == 1

    def test_nobody_else_gets_in(self, world: World, board: Board) -> None:
        """Not the run's own owner, nor who manages the organisation's work."""
        with acting(platform()):
            erin = make_member(world.organisation, "erin", Role.ADMIN)
        for user in (world.alice, erin):
            with pytest.raises(DomainError):
                self.enters(board, user)
