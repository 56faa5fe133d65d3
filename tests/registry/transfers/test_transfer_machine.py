"""In every order of pulls, deaths at any step, cancellations and deletions: a tag that is to be seen is whole."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from django.conf import LazySettings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from apps.common.errors import Conflict
from apps.common.scoping import acting
from apps.registry.choices import TransferStatus as Status
from apps.registry.distribution import deleting
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


class Transfers(RuleBasedStateMachine):
    site: ClassVar[Site]
    host: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        with acting(platform()):
            self.alice: Person = person(make_organisation(), "alice")
        self.actor = actor_of(self.alice.user, self.alice.organisation)
        self.pusher = Pusher(self.site, f"{self.alice.mine}/{NAME}", self.alice.user.username)

    @rule(what=st.sampled_from(IMAGES), tag=st.sampled_from(TAGS))
    def ask(self, what: Image, tag: str) -> None:
        address = f"{self.host}/team/a@{what.digest}"
        with acting(self.actor), suppress(Conflict):
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
            known = set(ImageTag.objects.values_list("name", flat=True))
        assert known <= set(tags)
        for tag in tags:
            assert self.pusher.is_whole(tag), tag

    @invariant()
    def what_has_ended_holds_neither_room_nor_password(self) -> None:
        with acting(self.actor):
            for row in ImageTransfer.objects.filter(ended_at__isnull=False):
                assert (row.added_bytes, row.credential) == (0, None)
                assert row.status in (Status.SUCCEEDED, Status.STOPPED, Status.FAILED)


@pytest.mark.hypothesis
def test_whatever_happens_to_pulls_a_visible_tag_is_whole(tmp_path: Path, settings: LazySettings) -> None:
    (tmp_path / "source").mkdir()
    with serving.running(tmp_path, settings) as site, registries.registry(tmp_path / "source") as source:
        rules = settings.IMAGE_PULL_RULES
        settings.IMAGE_PULL_RULES = replace(rules, plain_http=(*rules.plain_http, source.host))
        settings.IMAGE_SOURCES_PRIVATE = [source.host]
        for what in IMAGES:
            for blob in what.blobs:
                source.put("team/a", "blobs", blob, "application/octet-stream")
            source.put("team/a", "manifests", what.manifest, INDEX if what.children else MANIFEST)
        Transfers.site, Transfers.host = site, source.host
        run_machine(Transfers, count=30, steps=12)
