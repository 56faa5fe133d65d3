"""Training's pages: who sees what, what is refused beside the field, what a success leaves."""

import io
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.audit.models import Entry as AuditEntry
from apps.common.scoping import acting
from apps.storage import services as storage
from apps.storage.models import Folder
from apps.tenants import quotas
from apps.tenants.choices import Resource, Role
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, make_member, make_organisation, make_package, make_world, platform, signed_in
from tests.training.kit import PROGRAM, form_for, submit

NEW = "/training/new/"


@pytest.fixture
def alice(world: World) -> Client:
    return signed_in(world.alice)


@pytest.fixture
def bob(world: World) -> Client:
    """A colleague."""
    with acting(platform()):
        return signed_in(make_member(world.organisation, "bob"))


@pytest.fixture
def dora(world: World) -> Client:
    """Manages the organisation."""
    with acting(platform()):
        return signed_in(make_member(world.organisation, "dora", Role.ADMIN))


@pytest.fixture
def frank(world: World) -> Client:
    """Keeps the books: may look, may start nothing."""
    with acting(platform()):
        return signed_in(make_member(world.organisation, "frank", Role.FINANCE))


@pytest.fixture
def charlie(world: World) -> Client:
    """A stranger: manages another organisation."""
    with acting(platform()):
        return signed_in(make_member(make_organisation(), "charlie", Role.ADMIN))


def text(response: Any) -> str:
    content: bytes = response.content
    return content.decode()


def counts() -> tuple[int, int, int]:
    with acting(platform()):
        return Run.objects.count(), Workload.objects.count(), AuditEntry.objects.count()


def url(name: str, run: Run, *args: str) -> str:
    return reverse(f"training:{name}", args=[run.pk, *args])


# The list


def test_an_empty_list_says_what_it_is_for_and_offers_the_example(alice: Client) -> None:
    page = text(alice.get("/training/"))
    assert "No training yet" in page
    assert "/training/new/?example=1" in page


def test_a_member_sees_their_own_runs_only(world: World, alice: Client, bob: Client, dora: Client) -> None:
    submit(world, name="of alice")
    assert "of alice" in text(alice.get("/training/"))
    assert "of alice" not in text(bob.get("/training/"))
    assert "of alice" in text(dora.get("/training/"))


def test_the_list_is_filtered_searched_and_sorted_by_its_address(world: World, alice: Client) -> None:
    submit(world, name="first one", note="warm-up")
    submit(world, name="second one")
    assert "second one" not in text(alice.get("/training/?q=warm"))
    assert "first one" in text(alice.get("/training/?status=live"))
    none = text(alice.get("/training/?status=failed"))
    assert "first one" not in none
    assert "Nothing matches" in none
    page = text(alice.get("/training/?sort=name"))
    assert page.index("first one") < page.index("second one")


@pytest.mark.parametrize("query", ["status=nonsense", "page=99999", "page=x", "sort=nonsense", "q=%00", "mine=maybe"])
def test_a_made_up_address_is_no_error(world: World, alice: Client, query: str) -> None:
    submit(world)
    assert alice.get(f"/training/?{query}").status_code == 200


def test_the_list_asks_the_same_few_questions_however_long_it_is(world: World, dora: Client) -> None:
    def questions() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            dora.get("/training/")
        return len(queries)

    submit(world)
    questions()
    few = questions()
    for _ in range(10):
        submit(world)
    assert questions() == few


# The form


def test_the_first_form_holds_the_example_and_a_price(world: World, alice: Client) -> None:
    page = text(alice.get(f"{NEW}?example=1"))
    assert "load_digits" in page
    assert "¥3.60" in page
    assert "python -u train.py" in page


def test_the_next_form_is_filled_from_the_last_run(world: World, alice: Client) -> None:
    submit(world, name="mine", arguments=(("--lr", "0.1"),))
    page = text(alice.get(NEW))
    assert 'value="mine"' in page
    assert 'value="--lr"' in page
    assert 'value="--lr"' not in text(alice.get(f"{NEW}?blank=1"))


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


# Uploads


def zipped(**files: str) -> SimpleUploadedFile:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return SimpleUploadedFile("project.zip", packed.getvalue())


def test_an_uploaded_project_is_unpacked_named_and_run(world: World, alice: Client) -> None:
    page = text(alice.post("/training/code/", {"files": [zipped(**{"src__main.py": PROGRAM, "src__data.txt": "1"})]}))
    assert "src/main.py" in page
    assert "Run src/main.py" in page
    with acting(platform()):
        folder = Folder.objects.get()
    form = form_for(world, source="upload", code=str(folder.pk), script="src/main.py", text="")
    assert alice.post(NEW, form).status_code == 302
    with acting(platform()):
        assert Run.objects.get().code_id == folder.pk


def test_more_files_join_the_first_ones(world: World, alice: Client) -> None:
    alice.post("/training/code/", {"files": [SimpleUploadedFile("train.py", b"1")]})
    with acting(platform()):
        folder = Folder.objects.get()
    page = text(alice.post("/training/code/", {"files": [SimpleUploadedFile("b.py", b"2")], "code": str(folder.pk)}))
    assert "2 files uploaded" in page
    with acting(platform()):
        assert storage.file_names(Folder.objects.get()) == ["b.py", "train.py"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("bad.zip", b"no zip", "damaged"), ("..\\evil.py", b"1", "2 files"), ("", b"1", "at least one")],
)
def test_a_file_that_is_refused_leaves_the_others(
    world: World, alice: Client, name: str, content: bytes, words: str
) -> None:
    alice.post("/training/code/", {"files": [SimpleUploadedFile("train.py", b"1")]})
    with acting(platform()):
        folder = Folder.objects.get()
    files = [SimpleUploadedFile(name, content)] if name else []
    page = text(alice.post("/training/code/", {"files": files, "code": str(folder.pk)}))
    assert words in page
    assert "train.py" in page


def test_nobody_adds_to_anothers_upload(world: World, alice: Client, bob: Client) -> None:
    alice.post("/training/code/", {"files": [SimpleUploadedFile("train.py", b"1")]})
    with acting(platform()):
        folder = Folder.objects.get()
    bob.post("/training/code/", {"files": [SimpleUploadedFile("b.py", b"2")], "code": str(folder.pk)})
    with acting(platform()):
        assert storage.file_names(Folder.objects.get(pk=folder.pk)) == ["train.py"]


# One run


TABS = ("overview", "log", "output", "events", "cost", "settings", "nonsense")


@pytest.mark.parametrize("tab", TABS)
def test_each_tab_opens_for_the_owner_and_not_for_a_stranger(
    world: World, alice: Client, bob: Client, charlie: Client, tab: str
) -> None:
    run = submit(world)
    assert alice.get(f"{url('detail', run)}?tab={tab}").status_code == 200
    assert alice.get(f"{url('part', run, 'now')}?tab={tab}").status_code == 200
    for outsider in (bob, charlie):
        for address in (url("detail", run), url("part", run, "now")):
            assert outsider.get(f"{address}?tab={tab}").status_code == 404


def test_a_waiting_run_says_why_and_what_is_held(world: World, alice: Client) -> None:
    page = text(alice.get(url("detail", submit(world))))
    assert "Why it waits" in page
    assert "Waiting for the scheduler" in page
    assert "Waiting and preparing are free" in page
    assert "¥3.60" in page


def test_the_charts_and_the_log_come_once(world: World, alice: Client) -> None:
    """A refresh brings them only where the page does not show that attempt yet."""
    run = submit(world)
    part = url("part", run, "now")
    assert 'id="run-live"' not in text(alice.get(f"{part}?tab=overview&shown="))
    assert 'id="run-live"' in text(alice.get(f"{part}?tab=overview&shown=1"))


def test_stopping_asks_first_and_leaves_an_audit_row(world: World, alice: Client) -> None:
    run = submit(world, name="mine")
    question = text(alice.get(url("ask", run, "stop")))
    assert "Take mine out of the queue?" in question
    assert alice.get(url("stop", run)).status_code == 405
    assert alice.post(url("stop", run)).status_code == 302
    with acting(platform()):
        assert Workload.objects.get().status == Status.STOPPED
        assert AuditEntry.objects.filter(action="workload.stopped").count() == 1
    assert "Taken out of the queue." in text(alice.get(url("detail", run)))


def test_stopping_twice_is_said_in_words(world: World, alice: Client) -> None:
    run = submit(world)
    alice.post(url("stop", run))
    alice.get(url("detail", run))
    assert "This has ended already." in text(alice.post(url("stop", run), follow=True))


@pytest.mark.parametrize("action", ["stop", "rerun"])
def test_outsiders_can_neither_stop_nor_rerun(
    world: World, bob: Client, charlie: Client, frank: Client, action: str
) -> None:
    run = submit(world)
    before = counts()
    assert bob.post(url(action, run)).status_code == 404
    assert charlie.post(url(action, run)).status_code == 404
    assert frank.post(url(action, run)).status_code == 403
    assert bob.get(url("ask", run, action)).status_code == 404
    assert counts() == before


def test_a_manager_stops_a_colleagues_run(world: World, dora: Client) -> None:
    run = submit(world)
    dora.post(url("stop", run))
    with acting(platform()):
        assert Workload.objects.get().status == Status.STOPPED


def test_running_again_shows_the_price_first(world: World, alice: Client) -> None:
    run = submit(world)
    question = text(alice.get(url("ask", run, "rerun")))
    assert "Run digits again?" in question
    assert "¥3.60" in question
    response = alice.post(url("rerun", run), {"key": "one"})
    assert response.headers["Location"] == alice.post(url("rerun", run), {"key": "one"}).headers["Location"]
    assert counts()[0] == 2


def test_a_rerun_that_is_refused_comes_back_in_words(db: None) -> None:
    with acting(platform()):
        world = make_world(balance_fen=500)
    alice = signed_in(world.alice)
    run = submit(world)
    before = counts()
    page = text(alice.post(url("rerun", run), {"key": "one"}, follow=True))
    assert "pl-toast" in page
    assert "is-fail" in page
    assert counts() == before


def test_outputs_are_browsed_and_downloaded_as_files(world: World, alice: Client, bob: Client) -> None:
    run = submit(world)
    root = storage.root_of(run.output)
    (root / "model").mkdir()
    (root / "model" / "weights.bin").write_bytes(b"\x00\x01")
    (root / "page.html").write_text("<script>alert(1)</script>")
    page = text(alice.get(f"{url('detail', run)}?tab=output"))
    assert "page.html" in page
    assert "weights.bin" in text(alice.get(f"{url('detail', run)}?tab=output&path=model"))
    answer = alice.get(f"{url('output', run)}?path=page.html&show=1")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert b"".join(alice.get(f"{url('output', run)}?path=model/weights.bin")) == b"\x00\x01"
    assert bob.get(f"{url('output', run)}?path=page.html").status_code == 404


@pytest.mark.parametrize("path", ["../code", "/etc", "missing", "link", "%00", "model/../../x"])
def test_no_path_leads_out_of_the_outputs(world: World, alice: Client, path: str) -> None:
    run = submit(world)
    (storage.root_of(run.output) / "link").symlink_to("/etc/passwd")
    assert alice.get(f"{url('detail', run)}?tab=output&path={path}").status_code == 200
    assert alice.get(f"{url('output', run)}?path={path}").status_code in (400, 404)


def test_charts_answer_points_and_nothing_for_unknown_ones(world: World, alice: Client) -> None:
    run = submit(world)
    assert alice.get(url("metrics", run, "cpu")).json()[0]["points"] == []
    assert alice.get(f"{url('metrics', run, 'cpu')}?since=x").status_code == 200
    assert alice.get(url("metrics", run, "nonsense")).status_code == 404


def test_the_log_of_a_run_that_has_not_begun_is_empty(world: World, alice: Client) -> None:
    response = alice.get(url("log", submit(world)))
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert b"".join(response) == b""
