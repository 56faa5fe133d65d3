"""Uploads of archives: their room and number, and that whatever ends gives everything back."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied
from apps.common.scoping import acting
from apps.registry.choices import TransferStatus as Status
from apps.registry.models import ImageTransfer
from apps.registry.transfers import services
from apps.storage import services as storage
from apps.storage.models import Folder, FolderKind
from apps.storage.safe_open import list_folder
from tests.builders import actor_of, platform
from tests.drivers.registries import layer
from tests.registry import serving
from tests.registry.serving import oci_layout
from tests.registry.test_registry_tokens import Person
from tests.registry.transfers.archived import begin, look, nothing_is_left, send, tar_of, uploaded
from tests.registry.transfers.kit import again, work
from tests.registry.transfers.sources import large_layer

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not (serving.PROGRAM and serving.SKOPEO), reason="needs docker-registry and skopeo"),
]
MB = 1000 * 1000


def test_the_organisations_capacity_and_the_limits_hold(alice: Person, tmp_path: Path, settings: LazySettings) -> None:
    oci_layout(tmp_path / "image", [large_layer(MB), layer(("b", b"b"))])
    data = tar_of(tmp_path / "image")
    settings.IMAGE_PULL_RULES = replace(settings.IMAGE_PULL_RULES, most_layers=1)
    assert uploaded(alice, data, "layers").problem == "too_many_layers"
    settings.IMAGE_PULL_RULES = replace(settings.IMAGE_PULL_RULES, most_layers=9)
    settings.REGISTRY_ORGANISATION_BYTES = 3 * MB // 2
    first = begin(alice, "first")
    with acting(platform()):
        ImageTransfer.objects.filter(pk=first.pk).update(status=Status.RUNNING, added_bytes=MB)
    full = uploaded(alice, data, "full")
    assert (full.problem, full.done_bytes) == ("over_capacity", 0)
    with acting(platform()):
        ImageTransfer.objects.filter(pk=first.pk).update(status=Status.STOPPED, added_bytes=0, ended_at=db_now())
    assert nothing_is_left(full)
    assert uploaded(alice, data, "fits").status == Status.SUCCEEDED


def test_cancelled_or_left_alone_everything_is_given_back(alice: Person, tmp_path: Path) -> None:
    oci_layout(tmp_path / "image")
    data = tar_of(tmp_path / "image")
    actor = actor_of(alice.user, alice.organisation)
    half = begin(alice, "half")
    send(alice, half, data, until=100)
    with acting(actor):
        assert services.cancel(actor, half.pk).status == Status.STOPPED
    assert nothing_is_left(half)
    queued = begin(alice, "queued")
    send(alice, queued, data)
    look()
    with acting(actor):
        services.cancel(actor, queued.pk)
    assert work(again(queued)).status == Status.STOPPED
    assert nothing_is_left(queued)
    alone, coming = begin(alice, "alone"), begin(alice, "coming")
    send(alice, coming, data, until=100)
    with acting(platform()):
        ImageTransfer.objects.update(waiting_since=db_now() - timedelta(hours=25))
    look()
    assert (again(alone).problem, again(coming).status) == ("left_alone", Status.UPLOADING)
    with acting(actor):
        services.cancel(actor, coming.pk)
    assert nothing_is_left(alone)


def test_the_folder_is_sealed_once_it_is_read_and_a_lost_archive_is_told(alice: Person, tmp_path: Path) -> None:
    oci_layout(tmp_path / "image")
    transfer = begin(alice)
    send(alice, transfer, tar_of(tmp_path / "image"))
    look()
    with pytest.raises(Denied):
        send(alice, transfer, b"more", "more.tar")
    folder = again(transfer).archive
    assert folder is not None
    for item in list_folder(storage.root_of(folder)):
        (storage.root_of(folder) / item.name).unlink()
    assert work(again(transfer)).problem == "truncated"
    assert nothing_is_left(transfer)


def test_one_person_has_five_archives_on_their_way_at_most(alice: Person) -> None:
    for number in range(services.MOST_ARCHIVES):
        begin(alice, f"a{number}")
    with pytest.raises(Conflict):
        begin(alice, "more")
    with acting(platform()):
        assert Folder.objects.filter(kind=FolderKind.ARCHIVE).count() == services.MOST_ARCHIVES
