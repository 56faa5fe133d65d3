"""The form, the API, clones and passports of code from a repository."""

from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.billing.models import Hold
from apps.common.scoping import acting
from apps.storage.models import Folder
from apps.training.git.origin import Wanted
from apps.training.git.services import fetch_code
from apps.training.models import Run
from apps.training.views import git as pages
from tests.builders import World, make_member, platform, signed_in
from tests.secrets.making import make_secret
from tests.training.git.server import LOGIN, GitServer
from tests.training.kit import body_for, form_for, submit, text, url

pytestmark = [pytest.mark.django_db, pytest.mark.programs]
NEW, FETCH, API = "/training/new/", "/training/code/git/", "/api/v1/training/code/git/"
FILES = {"src/main.py": b"print('from git')\n", "README.md": b"# Digits\n"}


@pytest.fixture
def commit(server: GitServer) -> str:
    return server.repository().commit(FILES, subject="Teach <it> digits")


@pytest.fixture
def run(world: World, server: GitServer, commit: str) -> Run:
    """Of the branch main."""
    with acting(world.actor):
        folder = fetch_code(world.actor, Wanted(server.url(), "main"))
    return submit(world, text=None, code_id=folder.pk, script="src/main.py")


def typed(server: GitServer, **changes: str) -> dict[str, str]:
    values = {"git-address": server.url(), "git-ref": "", "git-path": "", "git-username": "", "git-secret": ""}
    return {**values, "script": "train.py", **changes}


def test_fetching_shows_the_commit_and_its_files(world: World, alice: Client, server: GitServer, commit: str) -> None:
    answer = alice.post(FETCH, typed(server))
    page = text(answer)
    assert answer.status_code == 200
    for shown in (commit[:10], "Teach &lt;it&gt; digits", "Ada Lovelace", "src/main.py", "2 files", "Run src/main.py"):
        assert shown in page
    with acting(platform()):
        assert f'name="git_code" value="{Folder.objects.get().pk}"' in page


def test_it_runs_what_was_fetched(world: World, alice: Client, server: GitServer, commit: str) -> None:
    alice.post(FETCH, typed(server))
    with acting(platform()):
        folder = Folder.objects.get()
    form = form_for(world, source="git", git_code=str(folder.pk), script="src/main.py", text="", **_fields(server))
    assert alice.post(NEW, form).status_code == 302
    with acting(platform()):
        assert Run.objects.get().code_id == folder.pk


def _fields(server: GitServer, **changes: str) -> dict[str, str]:
    fields = typed(server, **changes)
    del fields["script"]
    return fields


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"git_code": ""}, "Fetch the repository first"),
        ({"git_code": str(uuid4())}, "Fetch the repository first"),
        ({"git-ref": "other"}, "Fetch it again"),
        ({"git-path": "src"}, "Fetch it again"),
        ({"git-address": "git@example.org:a.git"}, "Fetch it again"),
    ],
)
def test_what_nobody_saw_does_not_start(
    world: World, alice: Client, server: GitServer, commit: str, changes: dict[str, str], words: str
) -> None:
    alice.post(FETCH, typed(server))
    with acting(platform()):
        folder = Folder.objects.get()
    form = form_for(world, source="git", git_code=str(folder.pk), script="src/main.py", **_fields(server))
    answer = alice.post(NEW, {**form, **changes})
    assert (answer.status_code, words in text(answer)) == (422, True)
    assert 'value="digits"' in text(answer)
    with acting(platform()):
        assert not Run.objects.exists()
        assert not Hold.objects.exists()


def test_a_refusal_keeps_what_was_typed_and_fetched(
    world: World, alice: Client, server: GitServer, commit: str
) -> None:
    alice.post(FETCH, typed(server))
    with acting(platform()):
        folder = Folder.objects.get()
    answer = alice.post(FETCH, typed(server, git_code=str(folder.pk), **{"git-ref": "nowhere"}))
    page = text(answer)
    assert answer.status_code == 422
    assert "no branch, tag or commit “nowhere”" in page
    assert 'value="nowhere"' in page
    assert f'name="git_code" value="{folder.pk}"' in page


def test_it_is_said_in_chinese(world: World, alice: Client, server: GitServer, commit: str) -> None:
    answer = alice.post(FETCH, typed(server, **{"git-ref": "nowhere"}), headers={"Accept-Language": "zh-CN"})
    assert "该仓库没有名为“nowhere”的分支、标签或提交" in text(answer)


def test_a_secret_is_named_and_never_shown(world: World, alice: Client, server: GitServer, commit: str) -> None:
    server.guarded = True
    secret = make_secret(world, name="GIT_TOKEN", value=LOGIN[1])
    assert f'<option value="{secret.pk}">GIT_TOKEN</option>' in text(alice.get(FETCH))
    assert str(secret.pk) not in text(alice.get(f"{NEW}?blank=1"))
    page = text(alice.post(FETCH, typed(server, **{"git-username": LOGIN[0], "git-secret": str(secret.pk)})))
    assert commit[:10] in page
    assert LOGIN[1] not in page


def test_without_git_the_source_is_not_offered(world: World, alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 'value="git"' in text(alice.get(f"{NEW}?blank=1"))
    monkeypatch.setattr(pages, "program", lambda: None)
    assert 'value="git"' not in text(alice.get(f"{NEW}?blank=1"))


def test_a_clone_and_a_rerun_keep_the_commit(world: World, alice: Client, server: GitServer, run: Run) -> None:
    server.repository().commit({"src/main.py": b"changed"})
    assert alice.post(url("rerun", run), {"key": uuid4().hex}).status_code == 302
    form = alice.get(f"{NEW}?from={run.pk}").context["form"]
    assert form["source"].value() == "parent"
    clone = form_for(world, source="parent", parent=str(run.pk), script="src/main.py", text="")
    assert alice.post(NEW, clone).status_code == 302
    with acting(platform()):
        assert set(Run.objects.values_list("code_id", flat=True)) == {run.code_id}


def test_the_newest_of_the_branch_is_offered(world: World, alice: Client, server: GitServer, run: Run) -> None:
    page = text(alice.get(f"{NEW}?from={run.pk}"))
    assert "Fetch the newest of main" in page
    assert f'value="{server.url()}"' in page
    assert 'name="git-ref" value="main"' in page
    assert "Rather the newest of main" in text(alice.get(url("ask", run, "rerun")))
    assert alice.get(f"{NEW}?from={run.pk}&source=git").context["form"]["source"].value() == "git"


def test_the_next_form_has_the_last_commit(world: World, alice: Client, run: Run) -> None:
    form = alice.get(NEW).context["form"]
    assert (form["source"].value(), form["git_code"].value()) == ("git", str(run.code_id))


def test_the_passport_names_the_commit_and_no_login(
    world: World, alice: Client, server: GitServer, commit: str, run: Run
) -> None:
    page = text(alice.get(url("passport", run)))
    assert commit in page
    assert server.url() in page
    found = alice.get(f"/api/v1/training/runs/{run.pk}/passport/").json()["git"]
    assert (found["commit"], found["ref"], found["address"]) == (commit, "main", server.url())
    assert not {"secret", "username"} & set(found)
    written = submit(world)
    assert alice.get(f"/api/v1/training/runs/{written.pk}/passport/").json()["git"] is None


def test_a_colleague_forks_it_from_the_same_commit(world: World, server: GitServer, commit: str, run: Run) -> None:
    with acting(platform()):
        colleague = signed_in(make_member(world.organisation, "erin"))
    page = text(colleague.get(f"{NEW}?fork={run.pk}"))
    assert 'value="git" checked' in page
    assert f'name="git-ref" value="{commit}"' in page


def test_the_api_fetches_and_starts(world: World, alice: Client, server: GitServer, commit: str) -> None:
    answer = alice.post(API, {"address": server.url(), "path": "src"}, content_type="application/json")
    assert answer.status_code == 201
    found = answer.json()
    assert (found["git"]["commit"], found["git"]["path"], found["files"]) == (commit, "src", ["main.py"])
    body = body_for(world, code=found["folder"], script="main.py")
    del body["text"]
    started = alice.post("/api/v1/training/runs/", body, content_type="application/json")
    assert started.status_code == 201
    assert started.json()["code"] == found["folder"]


def test_the_api_refuses_by_field(world: World, alice: Client, server: GitServer, commit: str) -> None:
    answer = alice.post(API, {"address": server.url(), "ref": "nowhere"}, content_type="application/json")
    assert answer.status_code == 400
    assert "ref" in answer.json()["fields"]


def test_more_files_go_into_a_folder_of_their_own(world: World, alice: Client, server: GitServer, run: Run) -> None:
    files = {"files": [SimpleUploadedFile("b.py", b"2")], "code": str(run.code_id)}
    alice.post("/training/code/", files)
    with acting(platform()):
        assert Folder.objects.get(pk=run.code_id).origin["files"] == 2
