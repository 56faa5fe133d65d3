"""Savings in every order of being asked for, cancelled, cut off and refused: what must always hold.

What a machine keeps is named by a row or goes; what is sent gets there once, under the one tag that was chosen for it.
"""

from contextlib import ExitStack
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.db import transaction
from django.db.models.functions import Now
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from apps.common.errors import DomainError
from apps.common.scoping import acting
from apps.registry.choices import OPEN_SAVINGS
from apps.registry.distribution import sending
from apps.registry.models import ImageRepository, ImageSaving
from apps.registry.saving import layouts, services, working
from apps.workloads import reach
from apps.workloads.models import Attempt, Workload
from tests.builders import World, make_world, platform, submit_workload
from tests.registry.saving.fakes import FakeMachine, FakeRegistry
from tests.searching import run_machine

pytestmark = pytest.mark.django_db

# Where the loop may be killed. What it has committed before stays.
POINTS = (
    "apps.registry.saving.states.saved",
    "apps.registry.saving.states.reserve",
    "apps.registry.saving.states.begin",
    "apps.registry.saving.states.progress",
    "apps.registry.saving.states.succeed",
    "apps.registry.saving.states.fail",
    "apps.registry.saving.states.stop",
    "apps.registry.saving.recording.tell_owner",
    "apps.registry.distribution.recording.pushed",
)


class Killed(BaseException):
    """The process ends here."""


def dies(*_each: object, **_named: object) -> object:
    raise Killed


def running_in_container(world: World) -> Workload:
    with acting(world.actor):
        workload = submit_workload(world)
    with acting(platform()):
        Workload.objects.filter(pk=workload.pk).update(status="running", started_at=Now())
        handle = {"driver": "fake", "node": world.node.name, "ref": str(uuid4())}
        Attempt.objects.create(
            organisation=world.organisation, workload=workload, number=1, node=world.node, handle=handle
        )
        workload.refresh_from_db()
    return workload


class Savings(RuleBasedStateMachine):
    """Two runs of one person, on a machine and a registry that do what they are told to."""

    settings: LazySettings

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.stack.enter_context(transaction.atomic())
        self.stack.callback(transaction.set_rollback, True)
        patch = self.stack.enter_context(pytest.MonkeyPatch.context())
        self.registry = FakeRegistry()
        self.machine = FakeMachine(self.registry)
        self.settings.REGISTRY_HOST, self.settings.REGISTRY_SOCKET = "registry.test", "/nowhere"
        self.settings.REGISTRY_ORGANISATION_BYTES = 1 << 40
        patch.setattr(sending, "Client", lambda: self.registry)
        patch.setattr(sending.recording, "PAUSES_S", ())
        patch.setattr(reach, "driver_named", lambda _name: self.machine)
        patch.setattr(reach, "drivers", lambda: {"fake": self.machine})
        with acting(platform()):
            self.world = make_world()
        self.work = [running_in_container(self.world) for _number in range(2)]
        self.lost = 0

    def teardown(self) -> None:
        try:
            self.settle()
        finally:
            self.stack.close()

    def settle(self) -> None:
        """Whoever was away comes back, nobody is killed any more: everything ends, and nothing is left."""
        self.registry.is_away = False
        for _turn in range(40):
            if not self.open():
                break
            self.turn(None)
        assert not self.open()
        with acting(platform()):
            succeeded = ImageSaving.objects.filter(status="succeeded").count()
            assert self.registry.deliveries == succeeded + self.lost
            layouts.sweep(0)
        assert not self.machine.layouts

    def open(self) -> list[ImageSaving]:
        with acting(platform()):
            return list(ImageSaving.objects.filter(status__in=sorted(OPEN_SAVINGS)))

    @rule(which=st.integers(0, 1), tag=st.sampled_from(["", "", "v1"]), name=st.sampled_from(["mine", "other"]))
    def ask(self, which: int, tag: str, name: str) -> None:
        with acting(self.world.actor):
            try:
                with transaction.atomic():
                    new = services.NewSaving(name, uuid4().hex, tag)
                    services.save(self.world.actor, self.work[which], new)
            except DomainError:
                pass

    @rule(point=st.none() | st.sampled_from(POINTS))
    def turn(self, point: str | None) -> None:
        with acting(platform()), pytest.MonkeyPatch.context() as patch:
            ImageSaving.objects.update(due_at=Now())
            if point is not None:
                patch.setattr(point, dies)
            for saving_id in working.due():
                try:
                    working.step(saving_id)
                except Killed:
                    continue

    @rule()
    def send_on(self) -> None:
        """Machines send whether somebody asks them or not."""
        self.machine.send_on()

    @rule(which=st.integers(0, 1))
    def change(self, which: int) -> None:
        with acting(platform()):
            handle = Attempt.objects.get(workload=self.work[which]).handle
        assert handle is not None
        self.machine.change(handle["ref"])

    @rule()
    def cancel(self) -> None:
        for saving in self.open()[:1]:
            with acting(self.world.actor):
                services.cancel(self.world.actor, saving.pk)

    @rule(away=st.booleans())
    def go_away(self, away: bool) -> None:
        self.registry.is_away = away

    @rule(room=st.sampled_from([0, 1500, 1 << 40]))
    def resize(self, room: int) -> None:
        self.settings.REGISTRY_ORGANISATION_BYTES = room

    @rule()
    def delete_repository(self) -> None:
        with acting(platform()):
            for repository in ImageRepository.objects.all()[:1]:
                coming = {str(each) for each in self.open()}
                self.lost += sum(f"{name}:{tag}" in coming for name, tag in self.registry.delete(repository.name))
                repository.delete()

    @rule()
    def end_work(self) -> None:
        with acting(platform()):
            Workload.objects.filter(pk=self.work[0].pk).update(status="stopped", ended_at=Now())
            self.work[0].refresh_from_db()

    @rule()
    def sweep(self) -> None:
        with acting(platform()):
            layouts.sweep(0)

    @invariant()
    def what_is_sent_is_kept(self) -> None:
        assert {each.digest for each in self.open() if each.status == "sending"} <= self.machine.layouts
        assert not self.machine.missed

    @invariant()
    def each_has_got_there_at_most_once(self) -> None:
        with acting(platform()):
            succeeded = ImageSaving.objects.filter(status="succeeded").count()
        assert succeeded + self.lost <= self.registry.deliveries <= succeeded + self.lost + len(self.open())


@pytest.mark.hypothesis
def test_whatever_happens_in_whatever_order(settings: LazySettings) -> None:
    Savings.settings = settings
    run_machine(Savings, count=120, steps=30)
