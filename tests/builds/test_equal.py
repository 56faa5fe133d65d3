"""Equal builds at once: one is carried out, the others wait for it, and nobody waits for nothing."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client

from apps.billing.models import MeterSession
from apps.builds import equal, services
from apps.builds.cache.keeping import keep_ended
from apps.builds.models import Build
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.tenants.models import Holding
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from apps.workloads.queueing.holding_back import LONGEST
from apps.workloads.reconcile.schedule import run_pass
from tests.builders import World, actor_of, make_member, make_organisation, make_world, platform, reload
from tests.builds.kit import build, debian_image
from tests.builds.machine import ended, nothing_held
from tests.builds.test_cache import TEXT as STEPS
from tests.builds.test_cache import done, succeeded, taken
from tests.drivers.registries import BUSYBOX

TEXT = "FROM debian\nRUN apt-get update\n"
needs_machine = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.programs,
    pytest.mark.skipif(BUSYBOX is None, reason="busybox-static is not installed"),
]


def again(made: Build) -> Build:
    with acting(platform()):
        found: Build = Build.objects.select_related("workload", "waits_for").get(pk=made.pk)
        return found


def turn() -> int:
    """Of the loop: what ended gives up what it kept, what waited for it comes into the queue."""
    with acting(platform()):
        keep_ended()
        return equal.let_go()


def stop(made: Build) -> None:
    with acting(platform()):
        services.stop(platform(), again(made))


@pytest.mark.django_db
class TestWhoWaits:
    def test_an_equal_one_waits_for_the_first_and_a_third_too(self, world: World, debian: Image) -> None:
        first, second, third = (build(world, text) for text in (TEXT, f"# other words\n{TEXT}", TEXT))
        assert not first.is_held_back
        assert [each.waits_for for each in (second, third)] == [first, first]
        with acting(platform()):
            run_pass(platform())
            explained = reload(second.workload).explanation
            assert explained["cause"] == "held_back"
            assert Workload.objects.filter(queued_at__lte=Now()).count() == 1

    def test_a_colleagues_is_waited_for_too(self, world: World, debian: Image) -> None:
        first = build(world, TEXT)
        with acting(platform()):
            colleague = actor_of(make_member(world.organisation, "bea"), world.organisation)
        assert build(world, TEXT, actor=colleague).waits_for == first

    @pytest.mark.parametrize(
        ("text", "order"),
        [
            (f"{TEXT}RUN more\n", {}),
            ("FROM debian\nENV A=1\nRUN apt-get update\n", {}),
            (TEXT, {"without_cache": True}),
            ("FROM debian\nLABEL a=b\n", {}),
        ],
    )
    def test_another_does_not(self, world: World, debian: Image, text: str, order: dict[str, bool]) -> None:
        build(world, TEXT)
        assert build(world, text, **order).waits_for is None

    def test_what_an_address_answers_is_not_known_so_nobody_waits(self, world: World, debian: Image) -> None:
        text = "FROM debian\nADD https://example.org/x /x\n"
        build(world, text)
        assert build(world, text).waits_for is None

    def test_another_organisations_is_not_waited_for(self, world: World, debian: Image) -> None:
        build(world, TEXT)
        with acting(platform()):
            other = make_organisation()
            charlie = actor_of(make_member(other, "charlie"), other)
        assert build(world, TEXT, actor=charlie).waits_for is None

    def test_one_without_the_cache_is_not_waited_for(self, world: World, debian: Image) -> None:
        build(world, TEXT, without_cache=True)
        assert build(world, TEXT).waits_for is None


@pytest.mark.django_db
class TestLettingGo:
    def test_while_the_first_goes_on_it_waits(self, world: World, debian: Image) -> None:
        build(world, TEXT)
        second = build(world, TEXT)
        assert turn() == 0
        assert again(second).is_held_back

    def test_once_the_first_is_stopped_the_second_is_built_and_the_third_waits_for_it(
        self, world: World, debian: Image
    ) -> None:
        first, second, third = (build(world, TEXT) for _number in range(3))
        stop(first)
        assert turn() == 1
        assert [again(each).waits_for for each in (second, third)] == [None, second]
        with acting(platform()):
            workload = reload(second.workload)
            assert (workload.status, workload.explanation) == (Status.QUEUED, {})
            assert Workload.objects.filter(pk=workload.pk, queued_at__lte=Now()).exists()
            assert not MeterSession.objects.exists()

    def test_what_the_first_kept_is_waited_for(self, world: World, debian: Image) -> None:
        first, second = build(world, TEXT), build(world, TEXT)
        stop(first)
        with acting(platform()):
            assert equal.let_go() == 0
        assert again(second).is_held_back

    def test_the_one_that_waits_can_be_stopped_and_holds_nothing_then(self, world: World, debian: Image) -> None:
        build(world, TEXT)
        second = build(world, TEXT)
        stop(second)
        assert turn() == 0
        over = again(second)
        assert (over.workload.status, over.waits_for) == (Status.STOPPED, None)
        with acting(platform()):
            assert not Holding.objects.filter(holder_id=second.workload_id).exists()

    def test_after_a_day_it_queues_by_itself(self, world: World, debian: Image) -> None:
        build(world, TEXT)
        second = build(world, TEXT)
        with acting(platform()):
            rows = Workload.objects.filter(pk=second.workload_id)
            assert rows.filter(queued_at__gt=Now() + LONGEST - timedelta(minutes=5)).exists()


@pytest.mark.django_db
class TestSaying:
    def test_the_page_names_what_it_waits_for(self, world: World, debian: Image, alice: Client) -> None:
        first, second = build(world, TEXT), build(world, TEXT)
        shown = alice.get(f"/builds/{second.pk}/").content.decode()
        assert "An equal build goes first" in shown
        assert f'href="/builds/{first.pk}/"' in shown
        assert alice.get(f"/api/v1/builds/{second.pk}/").json()["waits_for_equal"] is True
        assert alice.get(f"/api/v1/builds/{first.pk}/").json()["waits_for_equal"] is False
        assert "An equal build" not in alice.get(f"/builds/{first.pk}/").content.decode()

    def test_a_colleagues_private_build_is_not_named(self, world: World, debian: Image, alice: Client) -> None:
        with acting(platform()):
            colleague = actor_of(make_member(world.organisation, "bea"), world.organisation)
        first = build(world, TEXT, actor=colleague, name="secret-project")
        second = build(world, TEXT)
        shown = alice.get(f"/builds/{second.pk}/").content.decode()
        assert "A colleague builds the same steps" in shown
        assert "secret-project" not in shown
        assert str(first.pk) not in shown


@pytest.mark.django_db(transaction=True)
def test_of_two_in_one_moment_one_waits() -> None:
    with acting(platform()):
        world = make_world()
        debian_image()
    barrier = Barrier(2)

    def one(_number: int) -> Build:
        try:
            barrier.wait(60)
            return build(world, TEXT, name=f"tools-{_number}")
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(one, range(2)))
    leaders = [each.waits_for for each in made]
    assert sorted(leader is None for leader in leaders) == [False, True]
    assert {leader.pk for leader in leaders if leader} == {each.pk for each in made if each.waits_for is None}


@pytest.mark.usefixtures("box")
class TestOnAMachine:
    pytestmark = needs_machine

    def test_the_second_takes_all_steps_of_the_first_and_makes_the_same_image(self, world: World) -> None:
        first, second = build(world, STEPS), build(world, STEPS)
        first = succeeded(ended(first))
        assert again(second).is_held_back, "until what the first kept is the organisation's"
        assert turn() == 1
        second = succeeded(done(again(second)))
        assert taken(second) == ["1", "2", "3"]
        assert first.image is not None
        assert second.image is not None
        assert nothing_held(second)

    def test_of_a_first_that_fails_the_steps_before_are_taken(self, world: World) -> None:
        text = "FROM box\nRUN echo 1 > /one\nRUN exit 3\n"
        first, second = build(world, text), build(world, text)
        assert ended(first).workload.status == "failed"
        assert turn() == 1
        over = done(again(second))
        assert (over.workload.status, taken(over)) == ("failed", ["1"])

    def test_after_a_first_that_was_stopped_it_is_built_itself(self, world: World) -> None:
        first, second = build(world, STEPS), build(world, STEPS)
        stop(first)
        assert turn() == 1
        assert taken(succeeded(done(again(second)))) == []
