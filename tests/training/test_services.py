"""Starting runs: all of it or nothing."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.audit.models import Entry as AuditEntry
from apps.billing.models import Account, Hold
from apps.common.errors import Denied, DomainError, InsufficientFunds, Invalid, NotFound, QuotaExceeded
from apps.common.scoping import acting
from apps.storage import services as storage
from apps.storage.models import Folder, FolderKind
from apps.tenants import quotas
from apps.tenants.choices import Resource, Role
from apps.tenants.models import Quota
from apps.training import selectors, services
from apps.training.code_folders import MAX_CODE
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, actor_of, make_member, make_organisation, make_world, platform
from tests.training.kit import request_for, submit


def traces(home: Path) -> dict[str, int]:
    """Everything that a submission writes."""
    with acting(platform()):
        return {
            "runs": Run.objects.count(),
            "workloads": Workload.objects.count(),
            "folders": Folder.objects.count(),
            "holds": Hold.objects.count(),
            "held": sum(Account.objects.values_list("held_fen", flat=True)),
            "quota": sum(Quota.objects.values_list("used", flat=True)),
            "audit": AuditEntry.objects.count(),
            "files": sum(1 for _ in (home / "data").rglob("*") if _.is_file()) if (home / "data").exists() else 0,
            "directories": sum(1 for _ in (home / "data").glob("*/*/*")) if (home / "data").exists() else 0,
        }


def test_a_run_is_queued_with_its_code_sealed_and_its_money_held(world: World) -> None:
    run = submit(world, arguments=(("--epochs", "3"),), environment=(("SEED", "1"),))
    with acting(platform()):
        assert run.workload.status == Status.QUEUED
        assert run.workload.frozen_spec.argv == ("python", "-u", "train.py", "--epochs", "3")
        assert run.workload.frozen_spec.env["SEED"] == "1"
        assert (storage.root_of(run.code) / "train.py").read_text() == "print('hello')\n"
        assert Folder.objects.get(pk=run.code_id).sealed
        assert Hold.objects.get(workload_id=run.workload_id).amount_fen == 360
        assert AuditEntry.objects.filter(action="workload.queued", target_id=str(run.workload_id)).count() == 1
    assert (run.version, run.parent) == (1, None)


def test_the_same_key_starts_one_run(world: World) -> None:
    first, again = submit(world, key="k" * 32), submit(world, key="k" * 32, name="other")
    assert again.pk == first.pk
    with acting(platform()):
        assert Workload.objects.count() == 1


def test_a_colleague_may_use_the_same_key(world: World) -> None:
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    assert submit(world, key="same").pk != submit(world, bob, key="same").pk


def poor() -> World:
    with acting(platform()):
        return make_world(balance_fen=0)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "a/b"}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"package_id": 999_999}, "package"),
        ({"script": "../train.py"}, "path"),
        ({"script": ""}, "script"),
        ({"text": "  \n"}, "text"),
        ({"text": "x" * (MAX_CODE + 1)}, "text"),
        ({"text": None}, "code"),
        ({"arguments": (("--a", "\0"),)}, "arguments"),
        ({"environment": (("1", "a"),)}, "environment"),
    ],
)
def test_what_cannot_be_accepted_names_its_field_and_leaves_nothing(
    world: World, home: Path, changes: dict[str, Any], field: str
) -> None:
    before = traces(home)
    with pytest.raises(Invalid) as caught:
        submit(world, **changes)
    assert field in caught.value.fields
    assert traces(home) == before


def test_too_little_money_leaves_nothing(db: None, home: Path) -> None:
    world = poor()
    before = traces(home)
    with pytest.raises(InsufficientFunds):
        submit(world)
    assert traces(home) == before


def test_too_little_quota_leaves_nothing(world: World, home: Path) -> None:
    with acting(platform()) as actor:
        quotas.set_limit(actor, organisation_id=world.organisation.pk, resource=Resource.RUNS, limit=1)
    submit(world)
    before = traces(home)
    with pytest.raises(QuotaExceeded) as caught:
        submit(world)
    assert "Runs at a time" in str(caught.value.message)
    assert traces(home) == before


def test_a_role_that_may_only_look_starts_nothing(world: World, home: Path) -> None:
    with acting(platform()):
        frank = actor_of(make_member(world.organisation, "frank", Role.FINANCE), world.organisation)
    before = traces(home)
    with pytest.raises(Denied):
        submit(world, frank)
    assert traces(home) == before


def stranger_of(world: World) -> Any:
    with acting(platform()):
        organisation = make_organisation()
        return actor_of(make_member(organisation, "charlie", Role.ADMIN), organisation)


def test_another_organisations_run_is_no_parent(world: World, home: Path) -> None:
    run, charlie = submit(world), stranger_of(world)
    before = traces(home)
    with pytest.raises(NotFound):
        submit(world, charlie, parent_id=run.pk)
    assert traces(home) == before


def test_a_colleagues_run_is_no_parent_unless_one_manages_all(world: World) -> None:
    run = submit(world)
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
        dora = actor_of(make_member(world.organisation, "dora", Role.ADMIN), world.organisation)
    with pytest.raises(NotFound):
        submit(world, bob, parent_id=run.pk)
    assert submit(world, dora, parent_id=run.pk).version == 2


def test_another_persons_upload_is_no_code(world: World) -> None:
    with acting(world.actor):
        folder = storage.create_folder(world.actor, kind=FolderKind.CODE)
        storage.add_file(world.actor, folder=folder, path="train.py", content=SimpleUploadedFile("train.py", b"1"))
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
    for actor in (bob, stranger_of(world)):
        with pytest.raises(NotFound):
            submit(world, actor, text=None, code_id=folder.pk)
    assert submit(world, text=None, code_id=folder.pk).code_id == folder.pk


def test_an_upload_without_the_entry_file_is_refused_beside_it(world: World) -> None:
    with acting(world.actor):
        folder = storage.create_folder(world.actor, kind=FolderKind.CODE)
        storage.add_file(world.actor, folder=folder, path="main.py", content=SimpleUploadedFile("main.py", b"1"))
    with pytest.raises(Invalid) as caught:
        submit(world, text=None, code_id=folder.pk)
    assert set(caught.value.fields) == {"script"}


def test_a_rerun_is_the_next_version_with_the_same_code(world: World) -> None:
    first = submit(world, arguments=(("--epochs", "3"),))
    with acting(world.actor):
        again = services.rerun(world.actor, first, key="again")
        third = services.rerun(world.actor, first, key="third")
    assert (again.version, third.version) == (2, 3)
    assert (again.family, again.parent_id, again.code_id) == (first.family, first.pk, first.code_id)
    assert again.arguments == [["--epochs", "3"]]
    assert again.output_id != first.output_id


def test_leaving_the_queue_gives_everything_back(world: World) -> None:
    run = submit(world)
    with acting(world.actor):
        services.stop(world.actor, run)
    with acting(platform()):
        assert Workload.objects.get(pk=run.workload_id).status == Status.STOPPED
        assert set(Account.objects.values_list("held_fen", flat=True)) == {0}
        assert set(Quota.objects.values_list("used", flat=True)) == {0}


def test_a_member_sees_their_own_runs_and_a_manager_all(world: World) -> None:
    run = submit(world)
    with acting(platform()):
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
        dora = actor_of(make_member(world.organisation, "dora", Role.ADMIN), world.organisation)
    seen = {}
    for actor in (world.actor, bob, dora, stranger_of(world)):
        with acting(actor):
            seen[actor.label] = list(selectors.runs(actor).values_list("pk", flat=True))
    assert list(seen.values()) == [[run.pk], [], [run.pk], []]


def test_code_that_is_not_utf8_is_not_shown_as_text(world: World) -> None:
    with acting(world.actor):
        folder = storage.create_folder(world.actor, kind=FolderKind.CODE)
        storage.add_file(
            world.actor, folder=folder, path="train.py", content=SimpleUploadedFile("train.py", b"\xff\xfe")
        )
    run = submit(world, text=None, code_id=folder.pk)
    with acting(world.actor):
        assert selectors.code_text(run) is None
        assert selectors.code_text(submit(world)) == "print('hello')\n"


def test_a_refusal_is_always_a_domain_error_with_words(world: World) -> None:
    with pytest.raises(DomainError) as caught, acting(world.actor):
        services.submit(world.actor, request_for(world, image_id=world.organisation.pk))
    assert str(caught.value.message)
