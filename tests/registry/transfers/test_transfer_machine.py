"""In every order of pulls, deaths at any step, pushes and deletions: a tag that is to be seen is whole.

And no organisation keeps more than it may, whoever pushes while an image is on its way.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from django.conf import LazySettings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from apps.common.errors import Conflict
from apps.common.scoping import acting
from apps.registry.choices import TransferStatus as Status
from apps.registry.distribution import deleting, recording
from apps.registry.distribution.capacity import OverCapacity, capacity_of
from apps.registry.distribution.client import Client as RegistryClient
from apps.registry.models import ImageTag, ImageTransfer
from apps.registry.transfers import services, working
from apps.registry.transfers.services import NewPull
from tests.builders import actor_of, make_organisation, platform
from tests.drivers import registries
from tests.drivers.registries import INDEX, MANIFEST, layer
from tests.registry import serving
from tests.registry.pushing import Image, Pusher, image, index
from tests.registry.serving import Site
from tests.registry.test_registry_tokens import Person, person
from tests.searching import run_machine

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not serving.PROGRAM, reason="needs docker-registry"),
]
LAYERS = [layer((f"layer-{number}", bytes([number]) * 100)) for number in range(3)]
ONE, TWO = image("1", LAYERS[:2]), image("2", LAYERS[1:])
IMAGES = (ONE, TWO, index(ONE, TWO))
NAME, TAGS = "torch", ("1", "2")
MOST_STEPS = 40  # that the registry is asked for in one pull


class Killed(BaseException):
    """As a process that dies: nobody catches it."""


def dying_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, left = RegistryClient._ask, steps

    def counted(self: RegistryClient, *given: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return ask(self, *given, **named)

    monkeypatch.setattr(RegistryClient, "_ask", counted)


def once_after(steps: int, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    ask, left = RegistryClient._ask, steps

    def counted(self: RegistryClient, *given: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left == -1:
            act()
        return ask(self, *given, **named)

    monkeypatch.setattr(RegistryClient, "_ask", counted)


def pushed(site: Site, whose: Person, what: Image) -> bool:
    """As `docker push` to another repository; False where there is no room for it."""
    pusher, is_in = Pusher(site, f"{whose.mine}/pushed", whose.user.username), False
    with suppress(AssertionError):
        pusher.push(what, "1")
        is_in = True
    with acting(platform()), RegistryClient() as client:
        recording.read_again(client, pusher.name, pusher.username)
    return is_in


def size_of(*images: Image) -> int:
    return sum(len(blob) for blob in {blob for image in images for blob in image.blobs})


# Either image alone, both, and more than there is.
LIMITS = (max(size_of(ONE), size_of(TWO)), size_of(ONE, TWO), 10 * size_of(ONE, TWO))


class Transfers(RuleBasedStateMachine):
    site: ClassVar[Site]
    host: ClassVar[str]
    settings: ClassVar[LazySettings]

    @initialize(limit=st.sampled_from(LIMITS))
    def limited(self, limit: int) -> None:
        self.settings.REGISTRY_ORGANISATION_BYTES = limit

    def __init__(self) -> None:
        super().__init__()
        with acting(platform()):
            self.alice: Person = person(make_organisation(), "alice")
        self.actor = actor_of(self.alice.user, self.alice.organisation)
        self.pusher = Pusher(self.site, f"{self.alice.mine}/{NAME}", self.alice.user.username)

    @rule(what=st.sampled_from(IMAGES), tag=st.sampled_from(TAGS))
    def ask(self, what: Image, tag: str) -> None:
        address = f"{self.host}/team/a@{what.digest}"
        with acting(self.actor), suppress(Conflict, OverCapacity):
            services.pull(self.actor, NewPull(address, name=NAME, tag=tag))

    @rule(steps=st.one_of(st.integers(0, MOST_STEPS), st.just(1000)))
    def bring(self, steps: int) -> None:
        """What is open, the oldest first, by a process that may die at any step."""
        with acting(platform()), pytest.MonkeyPatch.context() as patch:
            dying_after(steps, patch)
            for transfer_id, _organisation_id, owner_id in list(working.due()):
                if owner_id == self.alice.user.pk:
                    with suppress(Killed):
                        working.advance(transfer_id)

    @rule(what=st.sampled_from((ONE, TWO)))
    def push(self, what: Image) -> None:
        pushed(self.site, self.alice, what)

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        with acting(self.actor):
            rows = sorted(ImageTransfer.objects.values_list("pk", flat=True))
            if rows:
                with suppress(Conflict):
                    services.cancel(self.actor, data.draw(st.sampled_from(rows)))

    @rule(data=st.data())
    def delete_a_tag(self, data: st.DataObject) -> None:
        with acting(self.actor):
            rows = list(ImageTag.objects.order_by("name").values_list("pk", flat=True))
            if rows:
                deleting.delete_tag(self.actor, data.draw(st.sampled_from(rows)))

    @invariant()
    def a_tag_that_is_to_be_seen_is_whole(self) -> None:
        with RegistryClient() as client:
            tags = client.tags(self.pusher.name)
        with acting(self.actor):
            known = set(ImageTag.objects.filter(repository__name=self.pusher.name).values_list("name", flat=True))
        assert known <= set(tags)
        for tag in tags:
            assert self.pusher.is_whole(tag), tag

    @invariant()
    def no_more_is_kept_than_the_organisation_may(self) -> None:
        with acting(self.actor):
            capacity = capacity_of(self.alice.organisation.pk)
        assert capacity.used <= capacity.limit

    @invariant()
    def what_has_ended_holds_neither_room_nor_password(self) -> None:
        with acting(self.actor):
            for row in ImageTransfer.objects.filter(ended_at__isnull=False):
                assert (row.added_bytes, row.credential) == (0, None)
                assert row.status in (Status.SUCCEEDED, Status.STOPPED, Status.FAILED)


@pytest.mark.hypothesis
def test_whatever_happens_to_pulls_a_visible_tag_is_whole(tmp_path: Path, settings: LazySettings) -> None:
    with both(tmp_path, settings) as (site, host):
        Transfers.site, Transfers.host, Transfers.settings = site, host, settings
        run_machine(Transfers, count=30, steps=12)


def test_whoever_pushes_at_whichever_step_of_a_pull_no_more_is_kept_than_may_be(
    tmp_path: Path, settings: LazySettings
) -> None:
    with both(tmp_path, settings) as (site, host):
        settings.REGISTRY_ORGANISATION_BYTES = LIMITS[0]
        outcomes = set()
        for steps in range(0, MOST_STEPS, 2):
            with acting(platform()):
                alice = person(make_organisation(), "alice")
            actor, answers = actor_of(alice.user, alice.organisation), []
            with acting(actor):
                asked = services.pull(actor, NewPull(f"{host}/team/a@{ONE.digest}", name=NAME, tag="1"))
            with acting(platform()), pytest.MonkeyPatch.context() as patch:
                once_after(steps, partial(_note_push, site, alice, answers), patch)
                working.advance(asked.pk)
            asked.refresh_from_db()
            with acting(actor):
                assert capacity_of(alice.organisation.pk).used <= LIMITS[0]
            if answers:
                assert (asked.status == Status.SUCCEEDED) != answers[0], steps
                outcomes.add(answers[0])
        assert False in outcomes


def _note_push(site: Site, whose: Person, answers: list[bool]) -> None:
    answers.append(pushed(site, whose, TWO))


@contextmanager
def both(tmp_path: Path, settings: LazySettings) -> Iterator[tuple[Site, str]]:
    """The site, and a registry that has the images under team/a."""
    (tmp_path / "source").mkdir()
    with serving.running(tmp_path, settings) as site, registries.registry(tmp_path / "source") as source:
        rules = settings.IMAGE_PULL_RULES
        settings.IMAGE_PULL_RULES = replace(rules, plain_http=(*rules.plain_http, source.host))
        settings.IMAGE_SOURCES_PRIVATE = [source.host]
        for what in IMAGES:
            for blob in what.blobs:
                source.put("team/a", "blobs", blob, "application/octet-stream")
            source.put("team/a", "manifests", what.manifest, INDEX if what.children else MANIFEST)
        yield site, source.host
