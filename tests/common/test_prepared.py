"""Prepared statements find what their query sets would find, whoever asks, and refuse what would make them stale."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import localdate
from django_scopes import scopes_disabled
from django_scopes.exceptions import ScopeError

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.prepared import prepared, prepared_in_scope
from apps.common.scoping import acting
from apps.tenants.models import Membership, User
from apps.training.models import Run
from tests.builders import World, make_world, platform
from tests.training.kit import submit

composed: list[bool] = []


@prepared
def runs_of(actor: Actor, newest_first: bool, /, *, since: datetime) -> QuerySet[Run]:
    composed.append(newest_first)
    rows = Run.objects.filter(owner_id=actor.user_id, created_at__gte=since).select_related("workload__package")
    return rows.order_by("-created_at" if newest_first else "created_at")


@prepared
def made_on(actor: Actor, /, *, day: date) -> QuerySet[Run]:
    return Run.objects.filter(created_at__date=day)


@prepared
def named(actor: Actor, /, *, ids: tuple[UUID, ...]) -> QuerySet[Run]:
    return Run.objects.filter(pk__in=ids).order_by("name")


@prepared_in_scope
def members(*, user_ids: tuple[int, ...]) -> QuerySet[Membership]:
    return Membership.objects.filter(user_id__in=user_ids).select_related("organisation")


@pytest.fixture
def worlds(db: None) -> tuple[World, World]:
    with acting(platform()):
        worlds = (make_world(), make_world())
    for world in worlds:
        for number in range(2):
            submit(world, name=f"run {number}")
    return worlds


def test_everybody_finds_their_own_rows_by_one_statement(worlds: tuple[World, World]) -> None:
    composed.clear()
    for world in worlds:
        with acting(world.actor) as actor:
            since = db_now() - timedelta(days=1)
            plain = Run.objects.filter(owner_id=actor.user_id, created_at__gte=since)
            assert runs_of(actor, True, since=since) == list(plain.order_by("-created_at"))
            assert runs_of(actor, False, since=since) == list(plain.order_by("created_at"))
            assert runs_of(actor, True, since=db_now()) == []
            assert len(runs_of(replace(actor, user_id=-1), True, since=since)) == 0
    assert sorted(composed) == [False, True]


def test_a_day_is_a_value_like_a_moment(worlds: tuple[World, World]) -> None:
    with acting(worlds[0].actor) as actor:
        today = localdate(Run.objects.order_by("created_at")[0].created_at)
        assert set(made_on(actor, day=today)) == set(Run.objects.filter(created_at__date=today)) != set()
        assert made_on(actor, day=today - timedelta(days=1)) == []


def test_one_statement_is_asked_at_the_first_time_too(
    worlds: tuple[World, World], django_assert_num_queries: Any
) -> None:
    """Composing asks nothing, and neither does taking the kept query set up."""
    with acting(worlds[0].actor) as actor:
        ids = tuple(Run.objects.values_list("pk", flat=True))
        with django_assert_num_queries(1):
            named(actor, ids=(*ids, *ids, *ids))
        with django_assert_num_queries(1):
            named(actor, ids=(*ids, *ids, *ids))


def test_joined_rows_come_along(worlds: tuple[World, World]) -> None:
    with acting(worlds[0].actor) as actor:
        since = db_now() - timedelta(days=1)
        with CaptureQueriesContext(connection) as asked:
            names = [run.workload.package.name_en for run in runs_of(actor, True, since=since)]
    assert len(names) == 2
    assert len(asked) == 1


def test_rows_of_other_organisations_are_not_found_by_their_ids(worlds: tuple[World, World]) -> None:
    here, there = worlds
    with acting(platform()) as staff:
        every = tuple(Run.objects.values_list("pk", flat=True))
        assert len(every) == 4
        assert len(named(staff, ids=every)) == 4
    with acting(here.actor) as actor:
        assert {run.organisation_id for run in named(actor, ids=every)} == {here.organisation.pk}
        assert len(named(actor, ids=every[:1])) + len(named(actor, ids=every[1:])) == 2
        assert named(actor, ids=()) == []
    with acting(there.actor), pytest.raises(RuntimeError, match="outside of its actor's scope"):
        named(here.actor, ids=every)
    with scopes_disabled(), pytest.raises(RuntimeError, match="outside of its actor's scope"):
        named(here.actor, ids=every)


def test_without_an_actor_the_scope_decides(worlds: tuple[World, World]) -> None:
    here, there = worlds
    with scopes_disabled():
        assert {each.organisation for each in members(user_ids=(here.alice.pk, there.alice.pk))} == {
            here.organisation,
            there.organisation,
        }
        assert members(user_ids=()) == []
    for world in worlds:
        with acting(world.actor):
            assert [each.organisation for each in members(user_ids=(here.alice.pk, there.alice.pk))] == [
                world.organisation
            ]
    with pytest.raises(ScopeError):
        members(user_ids=(here.alice.pk,))


def test_a_value_that_shapes_the_statement_is_refused(db: None) -> None:
    @prepared_in_scope
    def shaped(*, most: int) -> QuerySet[User]:
        return User.objects.all()[:most]

    with scopes_disabled(), pytest.raises(TypeError, match="does not take"):
        shaped(most=3)


def test_the_clock_is_not_read_into_a_statement(db: None) -> None:
    @prepared_in_scope
    def recent() -> QuerySet[User]:
        return User.objects.filter(date_joined__gte=db_now())

    with scopes_disabled(), pytest.raises(RuntimeError, match="without asking the database"):
        recent()
    with scopes_disabled():
        assert User.objects.count() == 0  # the connection is as usable as before


def test_prefetching_is_refused(db: None) -> None:
    @prepared_in_scope
    def fetched() -> QuerySet[User]:
        return User.objects.prefetch_related("memberships")

    with scopes_disabled(), pytest.raises(TypeError, match="prefetches"):
        fetched()
