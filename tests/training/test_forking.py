"""A colleague makes a run of their own from a passport: with what they may have, and told what they may not."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from apps.audit.models import Entry as AuditEntry
from apps.billing.models import Hold
from apps.common.errors import Invalid, NotFound
from apps.common.scoping import acting
from apps.storage import volumes
from apps.storage.choices import RootKind
from apps.storage.choosing import Chosen
from apps.tenants.models import User
from apps.training import forking, services
from apps.training.models import Run
from tests.builders import World, actor_of, make_member, platform, signed_in
from tests.training.kit import form_for, submit, text, url

pytestmark = pytest.mark.django_db
HIDDEN = "print('my-thesis')"


@pytest.fixture
def erin(world: World) -> User:
    with acting(platform()):
        return make_member(world.organisation, "erin")


@pytest.fixture
def colleague(erin: User) -> Client:
    return signed_in(erin)


def share(client: Client, run: Run, shared: bool = True) -> Any:
    return client.put(
        f"/api/v1/training/runs/{run.pk}/sharing/", json.dumps({"code_shared": shared}), content_type="application/json"
    )


def fork(client: Client, run: Run) -> str:
    return text(client.get(f"/training/new/?fork={run.pk}"))


def test_a_colleague_finds_the_way_and_nothing_that_is_not_theirs(
    world: World, alice: Client, colleague: Client
) -> None:
    run = submit(world, text=HIDDEN, environment=(("TOKEN", "hush-hush"),), arguments=(("--epochs", "7"),), cap_fen=777)
    assert f'href="/training/new/?fork={run.pk}"' in text(colleague.get(url("passport", run)))
    page = fork(colleague, run)
    assert "--epochs" in page
    assert 'value="TOKEN"' in page
    assert "Its code is not shared: upload yours." in page
    assert "Values of its variables are not shown, fill in yours: TOKEN." in page
    for hidden in ("hush-hush", "my-thesis", "7.77", 'value="parent"'):
        assert hidden not in page


def test_the_code_is_not_had_by_asking_for_it(world: World, erin: User, colleague: Client) -> None:
    run = submit(world, text=HIDDEN)
    actor = actor_of(erin, world.organisation)
    for code_id in (None, run.code_id):
        with acting(actor), pytest.raises((Invalid, NotFound)):
            services.submit(actor, services.Request(**_request(world, fork_of=run.pk, code_id=code_id)))
    refused = colleague.post("/training/new/", form_for(world, fork=str(run.pk), source="parent", text=""))
    assert refused.status_code == 422
    assert "Its code is not shared" in text(refused)
    with acting(platform()):
        assert Run.objects.count() == 1


def _request(world: World, **changes: Any) -> dict[str, Any]:
    values = {
        "name": "mine",
        "image_id": world.image.pk,
        "package_id": world.package.pk,
        "entry": services.Entry.PYTHON,
        "script": "train.py",
        "key": uuid4().hex,
    }
    return {**values, **changes}


def test_shared_code_comes_with_the_fork_which_is_the_colleagues_own(
    world: World, alice: Client, erin: User, colleague: Client
) -> None:
    run = submit(world, text=HIDDEN)
    assert share(alice, run).json() == {"code_shared": True}
    page = fork(colleague, run)
    assert "my-thesis" in page
    assert "What does not come with it" not in page
    made = colleague.post("/training/new/", form_for(world, fork=str(run.pk), source="parent", text="", name="mine"))
    assert made.status_code == 302
    with acting(platform()):
        own = Run.objects.select_related("workload").get(name="mine")
        assert (own.owner_id, own.workload.owner_id) == (erin.pk, erin.pk)
        assert (own.forked_from_id, own.code_id, own.parent_id, own.version) == (run.pk, run.code_id, None, 1)
        assert own.family != run.family
        env = (own.workload.frozen_spec.env, run.workload.frozen_spec.env)
        assert env[0]["PLSTACK_SEED"] == env[1]["PLSTACK_SEED"]
        assert Hold.objects.filter(workload_id=own.workload_id).exists()
    passport = text(colleague.get(url("passport", own)))
    assert "it was forked from" in passport
    assert colleague.get(url("detail", run)).status_code == 404
    assert alice.get(url("detail", own)).status_code == 404
    share(alice, run, shared=False)
    assert "my-thesis" not in fork(colleague, run)
    assert text(colleague.get(f"/training/new/?from={own.pk}")).count("my-thesis")  # what was forked keeps it


def test_volumes_that_are_not_shared_are_named_and_left_out(world: World, colleague: Client) -> None:
    with acting(world.actor):
        volume = volumes.create(world.actor, name="corpus", size_mib=100)
    run = submit(world, mounts=(Chosen(RootKind.VOLUME, volume.pk),))
    page = fork(colleague, run)
    assert "You may not use what it mounted: /volumes/corpus." in page
    assert str(volume.pk) not in page


def test_only_its_owner_shares_the_code_and_that_is_audited(
    world: World, alice: Client, colleague: Client, dora: Client
) -> None:
    run = submit(world)
    assert [share(client, run).status_code for client in (colleague, dora)] == [404, 404]
    for _each in range(2):
        assert alice.post(url("share_code", run), {"shared": "1"}).status_code == 302
    assert alice.post(url("share_code", run), {"shared": "0"}).status_code == 302
    with acting(platform()):
        rows = AuditEntry.objects.filter(action="run.code_shared").order_by("pk")
        assert [row.after["code_shared"] for row in rows] == [True, False]


def test_strangers_and_who_may_start_nothing_do_not_fork(
    world: World, alice: Client, charlie: Client, frank: Client
) -> None:
    run = submit(world, text=HIDDEN, name="her-own-name")
    share(alice, run)
    assert "her-own-name" not in fork(charlie, run)
    body = {**form_for(world, fork=str(run.pk), source="parent", text="")}
    assert charlie.post("/training/new/", body).status_code in (404, 422)
    assert "act-fork" not in text(frank.get(url("passport", run)))
    assert frank.get(f"/training/new/?fork={run.pk}").status_code == 403


def test_who_sees_the_run_takes_its_code_without_asking(world: World) -> None:
    run = submit(world)
    with acting(world.actor):
        assert forking.takes_code(world.actor, run)
