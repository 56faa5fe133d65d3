"""A copy of one's own data: complete, without secrets, for its owner alone, gone after a week."""

import io
import json
import re
import zipfile
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db.models import BinaryField
from django.test import Client

from apps.audit.models import Entry
from apps.common.actor import system_actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.console.tasks import copy_own_data, notify_of_own_data
from apps.notifications.models import Notice
from apps.tenants import own_data_zip
from apps.tenants.choices import Role
from apps.tenants.models import Membership, OwnDataExport, User
from apps.tenants.personal_data import links
from apps.tenants.services import own_data
from apps.tenants.services.departments import create_department
from tests.builders import PASSWORD, World, make_member, make_organisation, make_user, make_world, platform, signed_in
from tests.training.kit import submit

pytestmark = pytest.mark.django_db
PAGE = "/account/data/"

# Columns that name an owner or a user and are in no table of a copy, and why.
LEFT_OUT: Mapping[str, str] = {
    "billing.AloneAct.user": "what a clerk granted others; the person's acts tell of it",
    "billing.PrepaidOrder.user": "the organisation's order; the person's acts tell of it",
    "common.IdempotentAnswer.user_id": "answers of the API, kept for a day so that a repeated request gets the same",
    "guardian.UserObjectPermission.user": "empty: shares have tables of their own",
    "modelhub.ModelShare.user": "what others share with them, and may end",
    "storage.DatasetShare.user": "what others share with them, and may end",
    "storage.Folder.owner": "where files of runs and environments lie, which are in their own tables",
    "storage.VolumeShare.user": "what others share with them, and may end",
    "tenants.OwnDataExport.user": "the copy itself",
    "workloads.EntryCode.user": "codes that open something for a minute",
    "workloads.GatewaySession.user": "sign-ins to what they run, which are secrets",
}
# Never told, whatever a table is called.
SECRET = re.compile(r"password|digest|sealed|hash|secret|credential|session_key|^data$|token", re.ASCII)
HARMLESS = {"notifications.Notice.data"}


@pytest.fixture
def world(db: None) -> World:
    with acting(platform()):
        return make_world()


def confirmed(user: User) -> Client:
    """Somebody's browser, where the password was entered just now."""
    client = signed_in(user)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def copy_of(user: User) -> dict[str, Any]:
    """What a copy of their data holds: rows by table, and the texts."""
    client = confirmed(user)
    assert client.post(PAGE).status_code == 302
    copy_own_data()
    return opened(client, OwnDataExport.objects.get(user=user))


def opened(client: Client, export: OwnDataExport) -> dict[str, Any]:
    answer = client.get(f"{PAGE}{export.pk}/")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        texts = {name: archive.read(name).decode("utf-8-sig") for name in archive.namelist()}
    return {**texts, **{name[:-5]: json.loads(text) for name, text in texts.items() if name.endswith(".json")}}


# Complete, and without secrets


def test_every_table_of_a_person_is_in_the_copy_or_left_out_for_a_reason() -> None:
    owning = {name for name in links() if name.rpartition(".")[2] in ("owner", "user", "user_id")}
    told = {f"{table.model}.{table.column}" for table in own_data_zip.own_tables()}
    assert owning - told == set(LEFT_OUT)


def test_what_is_told_exists_and_no_name_is_given_twice() -> None:
    names = [table.name for table in own_data_zip.own_tables()]
    assert len(names) == len(set(names))
    with acting(system_actor()):
        for table in own_data_zip.own_tables():
            own_data_zip._rows(table, User(pk=0))


def test_no_table_tells_a_secret() -> None:
    for table in own_data_zip.own_tables():
        model = apps.get_model(table.model)
        for name in table.fields.split():
            if "__" in name or f"{table.model}.{name}" in HARMLESS:
                continue
            assert not SECRET.search(name), f"{table.model}.{name}"
            assert not isinstance(model._meta.get_field(name), BinaryField), f"{table.model}.{name}"


# What is in it


def test_a_copy_holds_the_account_its_memberships_and_its_runs(world: World) -> None:
    with acting(world.actor):
        submit(world, name="digits")
    found = copy_of(world.alice)
    assert [row["username"] for row in found["profile"]] == [world.alice.username]
    assert [row["organisation"] for row in found["memberships"]] == [world.organisation.name]
    assert [(row["name"], row["workload_status"]) for row in found["runs"]] == [("digits", "queued")]
    assert "digits" in found["runs.csv"]
    assert "runs: Training runs, 1 row" in found["README.txt"]
    assert world.alice.password not in str(found)


def test_a_copy_holds_nothing_of_others(world: World) -> None:
    with acting(platform()):
        bob = make_member(world.organisation, "bob", Role.MEMBER)
    with acting(world.actor):
        submit(world, name="hers")
    found = copy_of(bob)
    assert found["runs"] == []
    assert "hers" not in str(found)


def test_who_has_left_an_organisation_is_told_nothing_of_its_work(world: World) -> None:
    with acting(world.actor):
        submit(world, name="digits")
    with acting(platform()):
        Membership.objects.filter(user=world.alice).delete()
    found = copy_of(world.alice)
    assert (found["runs"], found["work"], found["memberships"]) == ([], [], [])
    assert len(found["profile"]) == 1


def test_what_was_done_to_an_account_is_told(world: World) -> None:
    with acting(platform()) as staff:
        bob = make_member(world.organisation, "bob", Role.MEMBER)
        create_department(staff, name="Research", organisation_id=world.organisation.pk)
    found = copy_of(bob)
    assert "member.added" in {row["action"] for row in found["acts-on-you"]}
    assert "department.created" not in str(found)


def test_a_long_table_is_cut_and_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_data_zip, "MOST_ROWS", 1)
    with acting(platform()):
        Membership.objects.create(organisation=make_organisation("Second"), user=world.alice)
    found = copy_of(world.alice)
    assert len(found["memberships"]) == 1
    assert "these are the newest" in found["README.txt"]


# Asking, being told, fetching


def test_the_person_is_told_and_both_acts_are_logged(world: World) -> None:
    copy_of(world.alice)
    with acting(platform()):
        assert Notice.objects.filter(user=world.alice, kind="account.data_ready").count() == 1
        acts = Entry.objects.filter(target_type="user", target_id=str(world.alice.pk)).values_list("action", flat=True)
        assert {"account.data_asked", "account.data_fetched"} <= set(acts)


def test_asked_twice_it_is_made_once_and_a_new_one_replaces_it(world: World) -> None:
    client = confirmed(world.alice)
    client.post(PAGE)
    client.post(PAGE)
    assert OwnDataExport.objects.filter(user=world.alice).count() == 1
    assert "Being put together" in client.get(PAGE).content.decode()
    copy_own_data()
    former = OwnDataExport.objects.get(user=world.alice)
    assert "Download" in client.get(PAGE).content.decode()
    client.post(PAGE)
    assert client.get(f"{PAGE}{former.pk}/").status_code == 404


def test_a_copy_is_its_owners_alone_and_ends_after_a_week(world: World) -> None:
    copy_of(world.alice)
    export = OwnDataExport.objects.get(user=world.alice)
    assert confirmed(make_user("eve")).get(f"{PAGE}{export.pk}/").status_code == 404
    assert Client().get(f"{PAGE}{export.pk}/").status_code == 302
    OwnDataExport.objects.update(expires_at=db_now() - timedelta(seconds=1))
    assert confirmed(world.alice).get(f"{PAGE}{export.pk}/").status_code == 404
    copy_own_data()
    assert not OwnDataExport.objects.exists()


def test_a_session_that_was_left_open_does_not_give_it_away(world: World) -> None:
    client = signed_in(world.alice)
    assert "reauthenticate" in client.post(PAGE)["Location"]
    assert not OwnDataExport.objects.exists()


def test_what_breaks_is_told_and_can_be_asked_for_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = confirmed(world.alice)
    client.post(PAGE)
    monkeypatch.setattr(own_data, "pack", lambda user: 1 / 0)
    copy_own_data()
    assert "could not be put together" in client.get(PAGE).content.decode()
    with acting(platform()):
        assert Notice.objects.filter(user=world.alice, kind="account.data_failed").count() == 1
    monkeypatch.undo()
    client.post(PAGE)
    copy_own_data()
    assert OwnDataExport.objects.get(user=world.alice).ready_at is not None


def test_a_killed_worker_is_followed_by_another_three_times(world: World) -> None:
    confirmed(world.alice).post(PAGE)
    dead = {"claimed_at": db_now() - own_data.SILENT - timedelta(seconds=1), "tries": own_data.MOST_TRIES}
    OwnDataExport.objects.update(**{**dead, "claimed_at": db_now()})
    copy_own_data()
    assert OwnDataExport.objects.get().under_way  # somebody works on it
    OwnDataExport.objects.update(**dead)
    copy_own_data()
    assert OwnDataExport.objects.get().failed_at is not None


def test_a_worker_that_was_given_up_writes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    confirmed(world.alice).post(PAGE)

    def slow(user: User) -> bytes:
        OwnDataExport.objects.update(tries=2)  # another one has begun meanwhile
        return b"late"

    monkeypatch.setattr(own_data, "pack", slow)
    with acting(system_actor()):
        due = own_data._claim()
        assert due is not None
        own_data._write(due, notify_of_own_data)
    assert OwnDataExport.objects.get().under_way
    with acting(platform()):
        assert not Notice.objects.filter(kind__startswith="account.data").exists()
