"""A commit becomes the code of a run: exactly its files, its name kept, from a real server."""

import os
import stat
import subprocess
from pathlib import Path
from uuid import UUID

import pytest

from apps.audit.models import Entry as AuditEntry
from apps.common.errors import DomainError, Invalid
from apps.common.scoping import acting
from apps.secrets.models import Secret
from apps.storage import services as storage
from apps.storage.models import Folder
from apps.training.git.origin import Origin, Wanted, origin_of
from apps.training.git.services import fetch_code
from tests.builders import World, platform
from tests.secrets.making import make_secret
from tests.training.git.server import LOGIN, GitServer, Link, Program, Submodule

pytestmark = [pytest.mark.django_db, pytest.mark.programs]
# Numbers in the subjects of two commits which begin with the same 7 digits.
ALIKE = (11594, 15620)
FILES = {
    "train.py": b"print('hello')\n",
    "src/model.py": b"x = 1\r\n",
    "run.sh": Program(b"#!/bin/sh\n"),
    "latest": Link("src/model.py"),
    "data/\xfc ber.txt": b"\0\1\2",
}


def fetch(world: World, url: str, **changes: object) -> Folder:
    with acting(world.actor):
        return fetch_code(world.actor, Wanted(url, **changes))  # type: ignore[arg-type]


def refused(world: World, url: str, **changes: object) -> tuple[str, str]:
    """The field and all the words; nothing is left behind."""
    with pytest.raises(DomainError) as caught:
        fetch(world, url, **changes)
    with acting(platform()):
        assert not Folder.objects.exists()
    return next(iter(caught.value.fields), ""), caught.value.sentences


def origin(folder: Folder) -> Origin:
    found = origin_of(folder)
    assert found is not None
    return found


def tree(root: Path) -> dict[str, tuple[object, ...]]:
    """What a folder holds: kind, whether it can be executed, contents."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, _folders, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if path.is_symlink():
                found[str(path.relative_to(root))] = ("link", os.readlink(path))
            else:
                executable = bool(path.stat().st_mode & stat.S_IXUSR)
                found[str(path.relative_to(root))] = ("file", executable, path.read_bytes())
    return found


def archived(server: GitServer, commit: str, into: Path) -> dict[str, tuple[object, ...]]:
    into.mkdir()
    packed = server.repository().git("archive", "--format=tar", commit)
    subprocess.run(["tar", "-x", "-C", str(into)], input=packed, check=True)
    return tree(into)


def test_the_folder_is_the_commit(world: World, server: GitServer, tmp_path: Path) -> None:
    commit = server.repository().commit(FILES, subject="Teach it\n\nmore")
    folder = fetch(world, server.url())
    found = origin(folder)
    assert (found.commit, found.subject, found.author) == (commit, "Teach it", "Ada Lovelace")
    assert found.date == "2023-11-14T23:13:20+01:00"
    assert (found.files, found.ref, found.path, found.address) == (5, "", "", server.url())
    assert tree(storage.root_of(folder)) == archived(server, commit, tmp_path / "archive")


def test_attributes_of_the_repository_change_nothing(world: World, server: GitServer) -> None:
    attributes = b"* export-subst ident eol=crlf\nleft.txt export-ignore\n*.py filter=evil diff=evil\n"
    files = {".gitattributes": attributes, "left.txt": b"a\n", "train.py": b"# $Id$ $Format:%H$\n"}
    server.repository().commit(files)
    found = tree(storage.root_of(fetch(world, server.url())))
    assert {name: each[2] for name, each in found.items()} == files


def test_a_branch_a_tag_and_a_commit(world: World, server: GitServer) -> None:
    repository = server.repository()
    first = repository.commit({"a.py": b"1"})
    repository.git("tag", "v1", first)
    second = repository.commit({"a.py": b"2"})
    other = repository.commit({"a.py": b"3"}, branch="feature/x")
    for ref, commit in (("", second), ("main", second), ("v1", first), ("feature/x", other), (first, first)):
        assert origin(fetch(world, server.url(), ref=ref)).commit == commit


def test_the_beginning_of_a_number(world: World, server: GitServer) -> None:
    """Of a commit in the middle of a branch, which the server finds by its whole number alone."""
    repository = server.repository()
    first = repository.commit({"a.py": b"1"})
    second = repository.commit({"a.py": b"2"})
    repository.commit({"a.py": b"3"})
    repository.git("config", "uploadpack.allowFilter", "true")
    for ref in (first[:7], second[:12].upper(), second[:39]):
        folder = fetch(world, server.url(), ref=ref)
        found = origin(folder)
        assert (found.commit, found.ref, found.follows) == (first if ref == first[:7] else second, ref, False)
        assert tree(storage.root_of(folder)) == {"a.py": ("file", False, b"1" if ref == first[:7] else b"2")}


def test_a_number_where_the_server_cannot_leave_files_out(world: World, server: GitServer) -> None:
    first = server.repository().commit({"a.py": b"1"})
    server.repository().commit({"a.py": b"2"})
    assert origin(fetch(world, server.url(), ref=first[:9])).commit == first


def test_a_name_comes_before_a_number(world: World, server: GitServer) -> None:
    first = server.repository().commit({"a.py": b"1"})
    tagged = server.repository().commit({"a.py": b"2"})
    server.repository().git("tag", first[:8], tagged)
    found = origin(fetch(world, server.url(), ref=first[:8]))
    assert (found.commit, found.follows) == (tagged, True)


def test_numbers_of_none_and_of_several(world: World, server: GitServer) -> None:
    """The two subjects give commits whose numbers begin alike, as long as the builder's dates stay."""
    repository = server.repository()
    commits = [repository.commit({"a.py": b"1"}, branch=f"b{n}", subject=f"Take {n}") for n in ALIKE]
    shared = commits[0][:7]
    assert commits[1].startswith(shared)
    field, words = refused(world, server.url(), ref=shared)
    assert (field, "Give more digits" in words) == ("ref", True)
    assert all(commit in words for commit in commits)
    assert origin(fetch(world, server.url(), ref=commits[1][:8])).commit == commits[1]


@pytest.mark.parametrize("ref", ["0000000", "abcdef", "blob"])
def test_a_number_that_no_commit_has(world: World, server: GitServer, ref: str) -> None:
    """Neither where it is too short, nor where it is that of a file."""
    server.repository().commit({"a.py": b"1"})
    if ref == "blob":
        ref = server.repository().git("rev-parse", "main:a.py").decode()[:10]
    field, words = refused(world, server.url(), ref=ref)
    assert (field, f"“{ref}”" in words, "7 or more of its digits" in words) == ("ref", True, True)


def test_a_folder_inside_is_all_that_is_kept(world: World, server: GitServer) -> None:
    server.repository().commit({"a.py": b"1", "deep/er/train.py": b"2", "deep/er/in/b.txt": b"3"})
    folder = fetch(world, server.url(), path="/deep/er/")
    assert set(tree(storage.root_of(folder))) == {"train.py", "in/b.txt"}
    assert origin(folder).path == "deep/er"


def test_a_repository_with_a_login(world: World, server: GitServer, tmp_path: Path) -> None:
    server.repository().commit({"a.py": b"1"})
    server.guarded = True
    field, words = refused(world, server.url())
    assert (field, server.host in words, "asks for a login" in words) == ("secret", True, True)
    secret = make_secret(world, name="GIT", value=f"{LOGIN[1]}\n")
    found = origin(fetch(world, server.url(), username=LOGIN[0], secret_id=secret.pk))
    assert (found.username, found.secret) == (LOGIN[0], str(secret.pk))
    with acting(platform()):
        assert Secret.objects.get(pk=secret.pk).last_used_at is not None
        entry = AuditEntry.objects.get(action="code.fetched")
        assert LOGIN[1] not in str(entry.__dict__)
        assert LOGIN[1] not in str(Folder.objects.get().origin)


def test_a_token_that_is_refused(world: World, server: GitServer) -> None:
    server.repository().commit({"a.py": b"1"})
    server.guarded = True
    secret = make_secret(world, name="GIT", value="expired-token")
    field, words = refused(world, server.url(), secret_id=secret.pk)
    assert (field, "refuses this user name and token" in words, "expired-token" in words) == ("secret", True, False)


def test_a_secret_of_somebody_else(world: World, server: GitServer) -> None:
    field, words = refused(world, server.url(), secret_id=UUID(int=5))
    assert (field, "not yours to use" in words, server.asked) == ("secret", True, [])


@pytest.mark.parametrize("value", ["two\nlines", "-----BEGIN KEY-----\nx\n"])
def test_a_secret_that_is_no_token(world: World, server: GitServer, value: str) -> None:
    secret = make_secret(world, name="GIT", value=value)
    assert refused(world, server.url(), secret_id=secret.pk)[0] == "secret"
    assert server.asked == []


def test_what_is_not_there(world: World, server: GitServer) -> None:
    field, words = refused(world, server.url("nothing.git"))
    assert (field, "no repository at this address" in words) == ("address", True)
    server.repository("empty.git")
    field, words = refused(world, server.url("empty.git"))
    assert (field, "no commit yet" in words) == ("address", True)
    repository = server.repository()
    repository.commit({"a.py": b"1", "only/sub": Submodule()})
    for ref in ("nowhere", "0" * 40):
        field, words = refused(world, server.url(), ref=ref)
        assert (field, f"“{ref}”" in words) == ("ref", True)
    for path in ("nowhere", "a.py"):
        field, words = refused(world, server.url(), path=path)
        assert (field, f"“{path}”" in words) == ("path", True)
    assert refused(world, server.url(), path="only")[0] == "path"


def test_submodules_and_lfs_are_said(world: World, server: GitServer) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"
    modules = b'[submodule "lib"]\n\tpath = lib\n\turl = file:///etc\n'
    files = {"a.py": b"1", "weights.bin": pointer, "lib": Submodule(), ".gitmodules": modules}
    server.repository().commit(files)
    folder = fetch(world, server.url())
    found = origin(folder)
    assert (found.submodules, found.submodule_count) == (("lib",), 1)
    assert (found.pointers, found.pointer_count) == (("weights.bin",), 1)
    assert "lib" not in tree(storage.root_of(folder))


def test_a_commit_stays_as_it_is(world: World, server: GitServer) -> None:
    server.repository().commit({"a.py": b"1"})
    folder = fetch(world, server.url())
    with acting(world.actor), pytest.raises(DomainError, match="stay as they are"):
        storage.write_text(world.actor, folder=folder, path="a.py", text="2")


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        (Wanted(""), "address"),
        (Wanted("http://example.org/a.git"), "address"),
        (Wanted("git@github.com:"), "address"),
        (Wanted("ssh://git:pw@example.org/a.git"), "address"),
        (Wanted("ssh://-oProxyCommand=id/a.git"), "address"),
        (Wanted("file:///etc"), "address"),
        (Wanted("ext::sh -c id"), "address"),
        (Wanted("https://user:pw@example.org/a.git"), "address"),
        (Wanted("https://example.org/a.git?token=x"), "address"),
        (Wanted("https://example.org/a.git#x"), "address"),
        (Wanted("https://example.org/a b.git"), "address"),
        (Wanted("--upload-pack=id"), "address"),
        (Wanted("https://example.org/a.git", ref="--upload-pack=id"), "ref"),
        (Wanted("https://example.org/a.git", ref="a..b"), "ref"),
        (Wanted("https://example.org/a.git", ref="main:refs/heads/x"), "ref"),
        (Wanted("https://example.org/a.git", ref="+main"), "ref"),
        (Wanted("https://example.org/a.git", path="../x"), "path"),
        (Wanted("https://example.org/a.git", path="a\\b"), "path"),
        (Wanted("https://example.org/a.git", username="a:b"), "username"),
    ],
)
def test_what_no_git_is_asked(wanted: Wanted, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        wanted.cleaned()
    assert list(caught.value.fields) == [field]
