"""The form: prices beside the button, words beside the field, nothing lost."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from apps.audit.models import Entry as AuditEntry
from apps.common.scoping import acting
from apps.storage.models import Folder
from apps.tenants import quotas
from apps.tenants.choices import Resource, Role
from apps.training.models import Run
from tests.builders import World, make_package, make_world, platform, signed_in
from tests.training.kit import counts, form_for, submit, text, url

NEW = "/training/new/"


def test_the_first_form_holds_the_example_and_a_price(world: World, alice: Client) -> None:
    page = text(alice.get(f"{NEW}?example=1"))
    assert "load_digits" in page
    assert "¥3.60" in page
    assert "python -u train.py" in page


def test_the_next_form_is_filled_from_the_last_run(world: World, alice: Client) -> None:
    submit(world, name="mine", arguments=(("--lr", "0.1"),))
    page = text(alice.get(NEW))
    assert 'value="--lr"' in page
    assert 'value="--lr"' not in text(alice.get(f"{NEW}?blank=1"))


def test_a_fresh_form_takes_neither_name_tags_note_nor_parent_from_the_last_run(world: World, alice: Client) -> None:
    submit(world, name="mine", tags=("baseline",), note="first try")
    page = text(alice.get(NEW))
    assert 'value="mine"' not in page
    assert "first try" not in page
    form = alice.get(NEW).context["form"]
    assert form["name"].value() == ""
    assert not form["tags"].value()
    assert not form["parent"].value()


def test_a_fresh_run_with_uploaded_code_of_the_last_one_is_a_first_version(world: World, alice: Client) -> None:
    upload = {"files": [SimpleUploadedFile("train.py", b"import b"), SimpleUploadedFile("b.py", b"")]}
    alice.post("/training/code/", upload)
    with acting(platform()):
        folder = Folder.objects.get()
    last = submit(world, name="mine", tags=("baseline",), text=None, code_id=folder.pk)
    form = alice.get(NEW).context["form"]
    assert form["source"].value() == "upload"
    assert not form["parent"].value()
    fresh = {"name": "other", "source": "upload", "code": str(form["code"].value()), "text": ""}
    assert alice.post(NEW, form_for(world, **fresh)).status_code == 302
    with acting(platform()):
        run = Run.objects.get(name="other")
        assert (run.parent, run.version, run.code_id) == (None, 1, last.code_id)
        assert run.family != last.family
        assert run.workload.tags == []


def test_a_clone_keeps_name_and_tags(world: World, alice: Client) -> None:
    run = submit(world, name="mine", tags=("baseline",))
    form = alice.get(f"{NEW}?from={run.pk}").context["form"]
    assert form["name"].value() == "mine"
    assert "baseline" in str(form["tags"].value())


def test_a_clone_continues_its_family(world: World, alice: Client) -> None:
    run = submit(world)
    page = text(alice.get(f"{NEW}?from={run.pk}"))
    assert f'name="parent" value="{run.pk}"' in page
    response = alice.post(NEW, form_for(world, parent=str(run.pk)))
    assert response.status_code == 302
    with acting(platform()):
        assert list(Run.objects.order_by("version").values_list("version", "family")) == [
            (1, run.family),
            (2, run.family),
        ]


def test_a_strangers_run_cannot_be_cloned(world: World, charlie: Client) -> None:
    run = submit(world, name="secret name")
    for parent in (str(run.pk), "no-id"):
        assert "secret name" not in text(charlie.get(f"{NEW}?from={parent}"))
    before = counts()
    assert charlie.post(NEW, form_for(world, parent=str(run.pk))).status_code == 422
    assert counts() == before


def test_a_submitted_form_starts_a_run_and_leaves_an_audit_row(world: World, alice: Client) -> None:
    response = alice.post(NEW, form_for(world))
    with acting(platform()):
        run = Run.objects.get()
        assert response.headers["Location"] == url("detail", run)
        assert run.arguments == [["--epochs", "20"]]
        assert AuditEntry.objects.filter(action="workload.queued", target_id=str(run.workload_id)).exists()


def test_a_double_click_starts_one_run(world: World, alice: Client) -> None:
    form = form_for(world)
    first, second = alice.post(NEW, form), alice.post(NEW, form)
    assert first.headers["Location"] == second.headers["Location"]
    assert counts()[0] == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "Give the run a name."),
        ({"name": "a/b"}, "A name has up to 80 letters"),
        ({"image": "x"}, "Choose one of the images."),
        ({"package": ""}, "Choose one of the packages."),
        ({"package": "99999999"}, "Choose one of the packages."),
        ({"package": "9" * 40}, "Choose one of the packages."),
        ({"script": "../x.py"}, "Name a file inside the code"),
        ({"text": ""}, "There is no code yet."),
        ({"source": "upload"}, "Upload files, or write the code in the page."),
        ({"arguments_value": ["a\0b"]}, "A value is too long"),
        ({"environment_key": ["1A"], "environment_value": ["x"]}, "A variable&#x27;s name has letters"),
        ({"environment_key": ["PLSTACK_CODE"], "environment_value": ["x"]}, "the platform&#x27;s own"),
    ],
)
def test_bad_input_gets_words_beside_the_field_and_changes_nothing(
    world: World, alice: Client, changes: dict[str, Any], words: str
) -> None:
    before = counts()
    response = alice.post(NEW, form_for(world, **changes))
    assert response.status_code == 422
    page = text(response)
    assert words in page
    assert "print(&#x27;hello&#x27;)" in page or "text" in changes  # what was typed is still there
    assert 'value="--epochs"' in page
    assert counts() == before


def test_all_faults_are_said_at_once(world: World, alice: Client) -> None:
    page = text(alice.post(NEW, form_for(world, name="", script="/abs", arguments_value=["\0"])))
    assert "3 things to change" in page


def test_too_little_money_says_what_is_short_and_who_can_change_it(db: None) -> None:
    with acting(platform()):
        world = make_world(balance_fen=100)
    alice = signed_in(world.alice)
    page = text(alice.post("/training/quote/", form_for(world)))
    assert "¥2.60 short of a start" in page
    assert "An administrator of your organisation can top up." in page
    assert "disabled" in page
    before = counts()
    assert alice.post(NEW, form_for(world)).status_code == 422
    assert counts() == before


def test_a_manager_without_money_is_led_to_the_wallet_and_to_what_would_start(db: None) -> None:
    with acting(platform()):
        world = make_world(balance_fen=100, role=Role.ADMIN)
        cheap = make_package("50")
    page = text(signed_in(world.alice).post("/training/quote/", form_for(world)))
    assert reverse("billing:wallet") in page
    assert f'data-fill="package-{cheap.pk}"' in page


def test_too_little_quota_says_whose_and_how_much(world: World, alice: Client) -> None:
    with acting(platform()) as actor:
        quotas.set_limit(actor, organisation_id=world.organisation.pk, resource=Resource.CPU_MILLI, limit=500)
    page = text(alice.post("/training/quote/", form_for(world)))
    assert "quota for CPU is short by 0.5: limit 0.5, in use 0" in page
    assert "The platform&#x27;s administrators can raise it" in page


@pytest.mark.parametrize("package", ["", "x", "99999999", "9" * 40, "-1"])
def test_a_quote_without_a_package_asks_for_one(world: World, alice: Client, package: str) -> None:
    response = alice.post("/training/quote/", form_for(world, package=package))
    assert response.status_code == 200
    assert "Choose a package" in text(response)


def test_the_quote_brings_the_command_with_it(world: World, alice: Client) -> None:
    page = text(alice.post("/training/quote/", form_for(world, arguments_value=["two words"])))
    assert "--epochs &#x27;two words&#x27;" in page


def test_a_field_is_checked_as_it_is_left_and_nothing_is_saved(world: World, alice: Client) -> None:
    before = counts()
    page = text(alice.post(NEW, form_for(world, name="a/b"), headers={"X-Validate": "name"}))
    assert "A name has up to 80 letters" in page
    assert "<html" not in page
    assert counts() == before


def test_who_may_only_look_gets_no_form(frank: Client) -> None:
    assert frank.get(NEW).status_code == 403
    assert frank.post(NEW, {}).status_code == 403
