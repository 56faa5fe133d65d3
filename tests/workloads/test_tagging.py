"""Tags of workloads: changed with an entry in the log, offered within the organisation, frozen with the meter."""

import pytest
from django.db import IntegrityError, ProgrammingError, transaction

from apps.audit.models import Entry
from apps.billing.models import MeterSession
from apps.common.errors import Invalid, NotFound
from apps.common.scoping import acting
from apps.workloads import states
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.tagging import set_tags, tag_columns, used_tags, with_tag
from tests.builders import World, actor_of, make_member, make_world, platform, reload, submit_workload
from tests.workloads.loops import until


def tagged(world: World, *tags: str) -> Workload:
    with acting(world.actor):
        workload = submit_workload(world)
        if tags:
            set_tags(world.actor, workload, tags)
        return workload


def entries(workload: Workload) -> list[tuple[object, object]]:
    rows = Entry.objects.filter(action="workload.tagged", target_id=str(workload.pk)).order_by("pk")
    return [(row.before["tags"], row.after["tags"]) for row in rows]


def test_a_change_is_logged_with_before_and_after_and_the_same_again_is_not(world: World) -> None:
    workload = tagged(world, "Vision", "team:nlp")
    with acting(world.actor):
        set_tags(world.actor, workload, ["Vision", "team:nlp"])
        set_tags(world.actor, workload, ["vision"])
    assert entries(workload) == [([], ["Vision", "team:nlp"]), (["Vision", "team:nlp"], ["vision"])]
    assert (reload(workload).tags, workload.tag_keys) == (["vision"], ["vision"])


def test_a_bad_tag_changes_nothing(world: World) -> None:
    workload = tagged(world, "vision")
    with acting(world.actor), pytest.raises(Invalid, match="a/b"):
        set_tags(world.actor, workload, ["a/b"])
    assert reload(workload).tags == ["vision"]
    assert len(entries(workload)) == 1


def test_a_colleague_cannot_change_them(world: World) -> None:
    workload = tagged(world, "vision")
    bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    with acting(bob), pytest.raises(NotFound):
        set_tags(bob, workload, ["mine"])
    assert reload(workload).tags == ["vision"]


def test_they_are_found_however_they_are_written(world: World) -> None:
    first, _other = tagged(world, "Straße"), tagged(world, "vision")
    assert list(with_tag(Workload.objects.all(), " STRASSE ")) == [first]
    assert not with_tag(Workload.objects.all(), "stra").exists()


def test_offered_are_the_organisations_own_the_most_used_first_as_written_last(world: World) -> None:
    for tags in (["vision"], ["Vision", "b"], ["c"]):
        tagged(world, *tags)
    stranger = make_world()
    tagged(stranger, "secret", "vision", "Secret2")
    bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    with acting(bob):
        assert used_tags(bob) == ["Vision", "b", "c"]
    charlie = actor_of(make_member(make_world().organisation, "charlie"))
    with acting(charlie):
        assert used_tags(charlie) == []


def test_the_database_keeps_both_columns_alike_and_few(world: World) -> None:
    workload = tagged(world)
    rows = Workload.objects.filter(pk=workload.pk)
    for columns in ({"tags": ["a"]}, {"tags": ["a"] * 11, "tag_keys": ["a"] * 11}):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(**columns)
    rows.update(**tag_columns(["a"]))


@pytest.mark.programs
def test_what_is_metered_keeps_the_tags_of_its_beginning(world: World) -> None:
    workload = tagged(world, "Before", "b")
    until(workload, lambda each: each.status == Status.SUCCEEDED)
    with acting(world.actor):
        set_tags(world.actor, workload, ["after"])
    session = MeterSession.objects.get(workload_id=workload.pk)
    assert (session.tags, session.tag_keys) == (["Before", "b"], ["before", "b"])
    states.open_meter(Attempt.objects.select_related("workload").get(workload=workload), session.opened_at)
    assert MeterSession.objects.get(pk=session.pk).tags == ["Before", "b"]
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        MeterSession.objects.filter(pk=session.pk).update(**tag_columns(["after"]))


def test_the_platform_is_offered_none(world: World) -> None:
    tagged(world, "vision")
    assert used_tags(platform()) == []
