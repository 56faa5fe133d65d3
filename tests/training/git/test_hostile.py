"""Repositories and servers that mean harm: refused in words, with nothing left, and nobody else is asked."""

import random
import struct
import threading
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import LazySettings

from apps.common.errors import Conflict, Unavailable
from apps.common.scoping import acting
from apps.tenants import settings as store
from apps.training.git import confinement, fetching
from apps.workloads.software_sources import SourceSettings
from tests.builders import World, platform
from tests.secrets.making import make_secret
from tests.training.git.server import LOGIN, GitServer, Link, git_server
from tests.training.git.test_fetching import fetch, refused

pytestmark = [pytest.mark.django_db, pytest.mark.programs]


@pytest.mark.parametrize(
    "links",
    [
        {"out": "/etc/passwd"},
        {"out": "../secret"},
        {"in/out": "../../secret"},
        {"in/up": "..", "out": "in/up/../../secret"},
        {"loop": "loop"},
        {"out": "a/../../secret"},
    ],
)
def test_links_that_lead_out(world: World, server: GitServer, links: dict[str, str]) -> None:
    server.repository().commit({"a.py": b"1", **{name: Link(target) for name, target in links.items()}})
    field, words = refused(world, server.url())
    assert (field, "lead out of it" in words) == ("address", True)


def test_a_link_that_leads_out_of_the_folder_inside(world: World, server: GitServer) -> None:
    server.repository().commit({"a.py": b"1", "in/b.py": Link("../a.py"), "in/c.py": b"1"})
    assert "lead out" in refused(world, server.url(), path="in")[1]
    assert fetch(world, server.url()).origin is not None


@pytest.mark.parametrize("name", [".git", ".GIT", ".plstack-x"])
def test_names_that_no_checkout_has(world: World, server: GitServer, name: str) -> None:
    repository = server.repository()
    inner = b"100644 config\0" + repository.blob(b"[core]\n\tfsmonitor = id\n")
    tree = repository.tree(inner)
    repository.point(b"40000 " + name.encode() + b"\0" + bytes.fromhex(tree))
    assert refused(world, server.url())[0] == "address"


@pytest.mark.parametrize("name", [b"..", b"a/b", b"back\\slash", b"\xff\xfe", b"new\nline"])
def test_names_that_lead_elsewhere(world: World, server: GitServer, name: bytes) -> None:
    repository = server.repository()
    repository.point(b"100644 " + name + b"\0" + repository.blob(b"1"))
    assert refused(world, server.url())[0] == "address"


def test_a_submodules_address_that_is_an_option(world: World, server: GitServer) -> None:
    modules = b'[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch owned\n'
    server.repository().commit({"a.py": b"1", ".gitmodules": modules})
    assert "damaged or harmful" in refused(world, server.url())[1]


def test_more_files_than_code_may_have(world: World, server: GitServer) -> None:
    server.repository().commit({f"{number % 100}/{number}": b"" for number in range(100_000)})
    field, words = refused(world, server.url())
    assert (field, "too large" in words) == ("address", True)


def test_a_tree_that_grows_without_end(world: World, server: GitServer) -> None:
    """Ten folders in each of ten, eleven deep: ten thousand million files of a few hundred bytes."""
    repository = server.repository()
    name, mode = repository.blob(b"boom"), b"100644"
    for _level in range(10):
        tree = b"".join(mode + b" %d\0" % number + name for number in range(10))
        name, mode = bytes.fromhex(repository.tree(tree)), b"40000"
    repository.point(b"40000 a\0" + name)
    assert "too large" in refused(world, server.url())[1]


def test_a_file_that_unpacks_to_more_than_code_may_have(world: World, server: GitServer) -> None:
    repository = server.repository()
    name = repository.blob(b"\0" * (8 << 20))
    repository.point(b"".join(b"100644 %02d\0" % number + name for number in range(65)))
    assert "too large" in refused(world, server.url())[1]


def test_a_pack_that_is_larger_than_it_may_be(world: World, server: GitServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "PACK_BYTES", 1 << 20)
    server.repository().commit({"noise.bin": random.Random(1).randbytes(3 << 20)})
    assert "too large" in refused(world, server.url())[1]


@pytest.mark.parametrize("place", ["https://127.0.0.1:1", "https://169.254.169.254", "https://[::1]", "http://x.test"])
def test_a_redirect_to_elsewhere_is_not_followed(world: World, server: GitServer, place: str) -> None:
    server.repository().commit({"a.py": b"1"})
    server.redirects = {"/moved": place}
    field, words = refused(world, server.url("moved/project.git"))
    assert (field, server.host in words) == ("address", True)


def test_another_server_is_neither_asked_nor_given_the_login(
    world: World, server: GitServer, tmp_path: Path, settings: LazySettings
) -> None:
    """Although the operator allows its address: the commit would not be what the address says."""
    secret = make_secret(world, name="GIT", value=LOGIN[1])
    with git_server(tmp_path / "other") as other:
        settings.EGRESS_ALLOW = [server.host, other.host]
        other.repository().commit({"a.py": b"1"})
        server.redirects = {"/moved": f"https://{other.host}"}
        _field, words = refused(world, server.url("moved/project.git"), username=LOGIN[0], secret_id=secret.pk)
        assert "has moved" in words
        assert other.asked == []
        assert all(server.logins)


def test_a_redirect_on_the_same_server_is_followed(world: World, server: GitServer) -> None:
    """GitLab leads an address without ".git" to the one with it."""
    commit = server.repository().commit({"a.py": b"1"})
    server.redirects = {"/project/": f"https://{server.host}/project.git/"}
    found = fetch(world, server.url("project")).origin
    assert found is not None
    assert found["commit"] == commit


@pytest.mark.parametrize(
    ("egress", "allow", "said"),
    [
        ("off", [], "PLSTACK_EGRESS."),
        ("pypi.org", [], "not among the hosts"),
        ("public", [], "PLSTACK_EGRESS_ALLOW"),
    ],
)
def test_what_the_installation_does_not_reach(
    world: World, server: GitServer, settings: LazySettings, egress: str, allow: list[str], said: str
) -> None:
    settings.EGRESS, settings.EGRESS_ALLOW = egress, allow
    server.repository().commit({"a.py": b"1"})
    field, words = refused(world, f"https://localhost/{'project.git'}" if egress == "public" else server.url())
    assert (field, said in words, "localhost" in words) == ("address", True, True)
    assert server.asked == []


def test_a_host_that_nobody_knows(world: World, server: GitServer) -> None:
    field, words = refused(world, "https://nowhere.invalid/a.git")
    assert (field, "no host nowhere.invalid" in words) == ("address", True)


def test_a_host_that_does_not_answer(world: World, server: GitServer, settings: LazySettings) -> None:
    settings.EGRESS_ALLOW = ["localhost:1"]
    assert "localhost:1 does not answer" in refused(world, "https://localhost:1/a.git")[1]


def test_a_certificate_that_nobody_trusts(world: World, server: GitServer) -> None:
    with acting(platform()):
        store.put(platform(), SourceSettings())
    assert "is not trusted here" in refused(world, server.url())[1]


def test_a_server_that_never_answers(world: World, server: GitServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "SECONDS", 4)
    server.hanging = threading.Event()
    assert "took longer" in refused(world, server.url())[1]


def test_nothing_lives_on_after_the_deadline(world: World, server: GitServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Listing a tree that grows without end, into a file that may grow as well, takes days."""
    monkeypatch.setattr(fetching, "LISTING_BYTES", 1 << 40)
    repository = server.repository()
    name, mode = repository.blob(uuid4().bytes), b"100644"
    for _level in range(10):
        tree = b"".join(mode + b" %d\0" % number + name for number in range(10))
        name, mode = bytes.fromhex(repository.tree(tree)), b"40000"
    commit = repository.point(b"40000 a\0" + name)
    monkeypatch.setattr(fetching, "SECONDS", 6)
    assert "took longer" in refused(world, server.url())[1]
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if commit in _read(path)]


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # it has ended
        return ""


def test_no_more_than_two_at_once(world: World, server: GitServer) -> None:
    with fetching._turns, fetching._turns, pytest.raises(Conflict):
        fetch(world, server.url())
    assert server.asked == []


def test_without_git(world: World, server: GitServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "program", lambda: None)
    with pytest.raises(Unavailable, match="not installed"):
        fetch(world, server.url())


def test_without_a_sandbox_the_same_comes_and_goes(
    world: World, server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "isolated", lambda: False)
    commit = server.repository().commit({"a.py": b"1"})
    found = fetch(world, server.url()).origin
    assert found is not None
    assert found["commit"] == commit


def test_neither_arguments_nor_errors_hold_the_token(
    world: World, server: GitServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[list[str]] = []
    real = confinement.subprocess.Popen

    def started(argv: list[str], **options: object) -> object:
        asked.append(argv)
        return real(argv, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(confinement.subprocess, "Popen", started)
    server.repository().commit({"a.py": b"1"})
    server.guarded = True
    secret = make_secret(world, name="GIT", value="wrong-but-secret")
    _field, words = refused(world, server.url(), username="robot", secret_id=secret.pk)
    assert "Authorization" not in str(asked)
    assert "wrong-but-secret" not in str(asked) + words + caplog.text
    assert "fetch" in str(asked)


def test_a_server_that_speaks_nonsense(world: World, server: GitServer, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = random.Random(2)
    monkeypatch.setattr(
        "tests.training.git.server.Handler._backend",
        lambda self, path, query: self._say(
            200,
            {"Content-Type": "application/x-git-upload-pack-advertisement"},
            struct.pack("16I", *(noise.getrandbits(32) for _ in range(16))),
        ),
    )
    assert refused(world, server.url())[0] == "address"
