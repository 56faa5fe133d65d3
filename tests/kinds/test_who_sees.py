"""Who sees a piece of work is decided once: a kind's own list never says otherwise than the kernel's."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from uuid import UUID

import pytest

from apps.boards import selectors as boards
from apps.boards.choices import KIND as BOARD
from apps.builds import selectors as builds
from apps.builds.choices import KIND as BUILD
from apps.common.actor import Actor
from apps.common.errors import Denied
from apps.common.permissions import Permission as P
from apps.common.scoping import acting
from apps.envs import selectors as environments
from apps.envs.choices import KIND as ENVIRONMENT
from apps.serving import selectors as serving
from apps.serving.choices import KIND as SERVICE
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.services.members import remove_member
from apps.training import selectors as training
from apps.training.choices import KIND as TRAINING
from apps.workloads import kinds, selectors
from apps.workloads.choices import Kind
from tests.boards.kit import open_board
from tests.builders import World, actor_of, make_member, make_organisation, make_staff, platform, staff_actor
from tests.builds.kit import build, debian_image
from tests.envs.kit import make
from tests.serving.kit import make_service, replica_of
from tests.training.kit import submit

pytestmark = pytest.mark.django_db

Seen = frozenset[UUID] | None
"""Ids of workloads; None where the list itself is refused."""


def one_build(world: World, actor: Actor) -> UUID:
    with acting(platform()):
        debian_image()
    return build(world, "FROM debian\nRUN true\n", actor=actor).workload_id


# Of each kind that the house has: the ids of the workloads behind its own list, and one more of it.
OWN_LIST: Mapping[str, Callable[[Actor], frozenset[UUID]]] = {
    TRAINING: lambda actor: frozenset(training.runs(actor).values_list("workload_id", flat=True)),
    BUILD: lambda actor: frozenset(builds.builds(actor).values_list("workload_id", flat=True)),
    BOARD: lambda actor: frozenset(boards.boards(actor).values_list("workload_id", flat=True)),
    ENVIRONMENT: lambda actor: frozenset(environments.environments(actor).values_list("workload_id", flat=True)),
    SERVICE: lambda actor: frozenset(
        serving.services(actor)
        .filter(deployments__isnull=False)
        .values_list("deployments__replica_set__replicas", flat=True)
    ),
}
ONE_MORE: Mapping[str, Callable[[World, Actor], UUID | None]] = {
    TRAINING: lambda world, actor: submit(world, actor).workload_id,
    BUILD: lambda world, actor: one_build(world, actor),
    BOARD: lambda world, actor: open_board(world, submit(world, actor), actor=actor).workload_id,
    ENVIRONMENT: lambda world, actor: make(world, actor).workload_id,
    SERVICE: lambda world, actor: replica_of(make_service(world, actor=actor)),
}


def seen(actor: Actor, rows: Callable[[Actor], frozenset[UUID]]) -> Seen:
    with acting(actor):
        try:
            return rows(actor)
        except Denied:
            return None


def viewers(world: World) -> dict[str, Actor]:
    """Everybody from whose place the lists could differ."""
    with acting(platform()):
        elsewhere = make_organisation()
        gone = make_member(world.organisation, "gone")
        left = actor_of(gone, world.organisation)
        remove_member(platform(), organisation_id=world.organisation.pk, user_id=gone.pk)
        found = {
            "owner": world.actor,
            "colleague": actor_of(make_member(world.organisation, "bob"), world.organisation),
            "books": actor_of(make_member(world.organisation, "frank", Role.FINANCE), world.organisation),
            "admin": actor_of(make_member(world.organisation, "dora", Role.ADMIN), world.organisation),
            "stranger": actor_of(make_member(elsewhere, "charlie"), elsewhere),
            "other admin": actor_of(make_member(elsewhere, "cleo", Role.ADMIN), elsewhere),
            "staff": staff_actor(make_staff(PlatformRole.SUPER)),
            "staff who see no work": staff_actor(make_staff(PlatformRole.FINANCE)),
            "left": left,
            "platform": platform(),
        }
    manages = found["colleague"].permissions | {P.TRAINING_MANAGE_ALL}
    found["manager of runs"] = replace(found["colleague"], permissions=manages)
    found["nothing allowed"] = replace(world.actor, permissions=frozenset())
    return found


def test_every_kind_of_the_house_is_compared() -> None:
    assert set(OWN_LIST) == set(ONE_MORE) == {rules.name for rules in kinds.every()}


@pytest.mark.parametrize("kind", sorted(OWN_LIST))
def test_a_kinds_own_list_is_the_kernels(world: World, kind: str) -> None:
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    mine, theirs = ONE_MORE[kind](world, world.actor), ONE_MORE[kind](world, bob)

    def kernels(actor: Actor) -> frozenset[UUID]:
        return frozenset(selectors.visible(actor, Kind(kind)).values_list("pk", flat=True))

    lists = {who: (seen(actor, OWN_LIST[kind]), seen(actor, kernels)) for who, actor in viewers(world).items()}
    assert {who: own for who, (own, _kernels) in lists.items()} == {who: all_ for who, (_own, all_) in lists.items()}
    found = {who: own for who, (own, _kernels) in lists.items()}
    assert found["owner"] == {mine}
    assert found["admin"] == found["staff"] == {mine, theirs}
    assert found["colleague"] == found["books"] == found["stranger"] == found["left"] == frozenset()
    assert found["staff who see no work"] is found["nothing allowed"] is None


def test_who_has_left_cannot_act_there_any_more(world: World) -> None:
    with acting(platform()):
        gone = make_member(world.organisation, "gone")
        remove_member(platform(), organisation_id=world.organisation.pk, user_id=gone.pk)
        with pytest.raises(Denied):
            actor_of(gone, world.organisation)
