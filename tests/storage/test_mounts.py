"""Volumes and dataset versions in a training run: what is chosen is mounted, and only what may be."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.urls import reverse

from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.storage import choosing, datasets, sharing, versions, volumes, working
from apps.storage.choices import Right, RootKind
from apps.storage.choosing import Chosen
from apps.storage.models import DatasetVersion
from apps.storage.roots import resolve
from apps.tenants.choices import Role
from apps.training import services
from apps.training.passport import summary_rows
from apps.training.selectors import runs
from tests.builders import World, actor_of, make_member, make_world, platform, signed_in
from tests.storage.kit import make_volume, put
from tests.training.kit import form_for, submit, text


@pytest.fixture
def world(db: None, tmp_path: Path, settings: LazySettings) -> World:
    settings.PLSTACK_HOME = tmp_path
    with acting(platform()):
        return make_world()


def make_version(world: World) -> DatasetVersion:
    volume = make_volume(world.actor, "source")
    put(volumes.root_of(volume), "data.csv", "1,2\n")
    with acting(world.actor):
        dataset = datasets.create(world.actor, name="digits")
        versions.start(world.actor, dataset, resolve(world.actor, RootKind.VOLUME, volume.pk))
    with acting(platform()):
        working.run_due_jobs()
    with acting(world.actor):
        return datasets.choosable(world.actor).get()


def mounts(run: Any) -> list[tuple[str, str, bool]]:
    found = run.workload.frozen_spec.mounts
    return [(m.source, m.target, m.read_only) for m in found if not m.target.startswith("/workspace")]


def test_what_is_chosen_is_mounted_and_stands_in_the_passport(world: World) -> None:
    volume, version = make_volume(world.actor, "work"), make_version(world)
    chosen = (
        Chosen(RootKind.VOLUME, volume.pk, read_only=False),
        Chosen(RootKind.VERSION, version.pk, read_only=False),
    )
    run = submit(world, mounts=chosen)
    assert mounts(run) == [
        (volume.relative_path, "/volumes/work", False),
        (version.relative_path, "/datasets/digits", True),
    ]
    with acting(world.actor):
        assert {"label": "Data", "value": "/volumes/work, /datasets/digits"} in summary_rows(runs(world.actor).get())
        again = services.rerun(world.actor, run, key="again")
    assert mounts(again) == mounts(run)


def test_what_is_mounted_is_not_deleted(world: World) -> None:
    volume, version = make_volume(world.actor, "work"), make_version(world)
    submit(world, mounts=(Chosen(RootKind.VOLUME, volume.pk), Chosen(RootKind.VERSION, version.pk)))
    with acting(world.actor):
        with pytest.raises(Conflict, match="uses this volume"):
            volumes.delete(world.actor, volume)
        with pytest.raises(Conflict, match="uses version 1"):
            datasets.delete(world.actor, version.dataset)


def test_nobody_mounts_what_they_cannot_see_or_writes_what_they_may_read(world: World) -> None:
    volume = make_volume(world.actor, "work")
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob", Role.MEMBER), world.organisation)
    wanted = (Chosen(RootKind.VOLUME, volume.pk, read_only=False),)
    with acting(bob), pytest.raises(Invalid) as refused:
        choosing.mounts_of(bob, wanted)
    assert "mounts" in refused.value.fields
    with acting(world.actor):
        sharing.share(world.actor, volume, user_id=bob.person(), right=Right.READ)
    with acting(bob):
        assert choosing.mounts_of(bob, wanted)[0].read_only
        mine = volumes.create(bob, name="Work", size_mib=1)
        both = (*wanted, Chosen(RootKind.VOLUME, mine.pk))
        assert len(choosing.mounts_of(bob, both)) == 2
        volumes.rename(bob, mine, name="work")
        with pytest.raises(Invalid, match="same name"):
            choosing.mounts_of(bob, both)


def test_the_form_offers_posts_and_keeps_them(world: World) -> None:
    volume = make_volume(world.actor, "work")
    client = signed_in(world.alice)
    assert f"volume-{volume.pk}" in text(client.get(reverse("training:new")))
    posted = form_for(world, **{f"volume-{volume.pk}": "write"})
    response = client.post(reverse("training:new"), posted)
    assert response.status_code == 302
    again = text(client.get(reverse("training:new")))
    assert '<option value="write" selected>' in again
    bad = client.post(reverse("training:new"), form_for(world, dataset="no-such-id"))
    assert bad.status_code == 422
    assert "Choose volumes and datasets that you can see." in text(bad)
