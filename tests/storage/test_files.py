"""Files in a volume: listed, made, moved, deleted, edited, uploaded, copied; nothing leads out, nothing is lost."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, DomainError, Invalid, NotFound, QuotaExceeded
from apps.common.scoping import acting
from apps.storage import copying, listing, operations, sharing, texts, unpacking, uploads, usage
from apps.storage.choices import Clash, Right, RootKind
from apps.storage.models import MIB, Upload
from apps.storage.roots import Root, resolve, row_of
from apps.storage.zipping import zip_of
from tests.storage.conftest import People
from tests.storage.kit import names, put, used

TRAPS = ["../secret", "a/../../secret", "/etc/passwd", "..\\secret", "door/secret", "link", "a\0b"]


def upload(actor: Actor, root: Root, path: str, data: bytes, clash: Clash = Clash.KEEP_BOTH) -> str | None:
    with acting(actor):
        begun, offset = uploads.begin(actor, root, path=path, size=len(data), clash=clash)
        uploads.append(actor, begun, offset=offset, chunks=[data])
        return uploads.finish(actor, begun)


def test_a_folder_of_many_files_is_read_a_page_at_a_time(root: Root) -> None:
    big = root.path / "big"
    big.mkdir()
    for number in range(3000):
        (big / f"f{number:05d}").touch()
    page = listing.page_of(root.path, "big", number=30, per_page=100)
    assert (page.total, page.pages, len(page.entries), page.entries[0].name) == (3000, 30, 100, "f02900")
    assert listing.page_of(root.path, "big", search="F0299").total == 10
    assert listing.page_of(root.path, "big", number=99).number == 30


def test_folders_stand_first_and_links_are_not_shown(root: Root) -> None:
    put(root.path, "A.txt", "longer than the others")
    assert names(root) == ["sub", "A.txt", "notes.txt"]
    assert names(root, order="-size") == ["sub", "A.txt", "notes.txt"]
    assert names(root, order="size") == ["sub", "notes.txt", "A.txt"]


@pytest.mark.parametrize("trap", TRAPS)
def test_no_operation_follows_a_trap(root: Root, alice: Actor, trap: str, tmp_path: Path) -> None:
    with acting(alice):
        acts: list[Callable[[], object]] = [
            lambda: listing.page_of(root.path, trap),
            lambda: operations.create_folder(root, trap, "new"),
            lambda: operations.rename(root, "notes.txt", trap),
            lambda: operations.move(root, ["notes.txt"], trap),
            lambda: (
                operations.move(root, [trap], "sub") if trap != "link" else operations.create_folder(root, trap, "n")
            ),
            lambda: texts.read_text(root, trap),
            lambda: texts.write_text(root, trap, "x", etag=None),
            lambda: copying.start(alice, root, ["notes.txt"], root, trap),
            lambda: unpacking.start(alice, root, trap),
        ]
        for act in acts:
            with pytest.raises(DomainError):
                act()
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["secret"]
    assert (tmp_path / "outside" / "secret").read_text() == "secret"


def test_a_zip_of_everything_leaves_links_out(root: Root) -> None:
    data = b"".join(zip_of(root.path, [""]))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert sorted(archive.namelist()) == ["notes.txt", "sub/deep/data.csv"]
        assert archive.read("sub/deep/data.csv") == b"1,2\n"
        assert archive.testzip() is None


@pytest.mark.parametrize("trap", ["door/secret", "link", "door"])
def test_a_zip_of_a_trap_is_empty(root: Root, trap: str) -> None:
    with zipfile.ZipFile(io.BytesIO(b"".join(zip_of(root.path, [trap])))) as archive:
        assert archive.namelist() == []


def test_a_zip_of_a_choice_names_entries_by_their_own_names(root: Root) -> None:
    data = b"".join(zip_of(root.path, ["sub/deep", "notes.txt", "gone"]))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert sorted(archive.namelist()) == ["deep/data.csv", "notes.txt"]


def test_what_is_named_the_same_is_never_overwritten_unasked(root: Root, alice: Actor) -> None:
    put(root.path, "sub/notes.txt", "other")
    with acting(alice):
        with pytest.raises(Conflict):
            operations.rename(root, "notes.txt", "sub")
        assert operations.move(root, ["notes.txt"], "sub", Clash.SKIP) == []
        assert operations.move(root, ["notes.txt"], "sub") == ["sub/notes (2).txt"]
        put(root.path, "notes.txt", "third")
        assert operations.move(root, ["notes.txt"], "sub", Clash.REPLACE) == ["sub/notes.txt"]
    assert (root.path / "sub" / "notes.txt").read_text() == "third"
    assert (root.path / "sub" / "notes (2).txt").read_text() == "hello"


def test_a_folder_does_not_go_into_itself(root: Root, alice: Actor) -> None:
    with acting(alice):
        with pytest.raises(Invalid, match="itself"):
            operations.move(root, ["sub"], "sub/deep")
        with pytest.raises(Invalid, match="itself"):
            copying.start(alice, root, ["sub"], root, "sub/deep")


def test_deleting_makes_room_at_once(root: Root, alice: Actor) -> None:
    assert upload(alice, root, "big.bin", b"x" * (8 * MIB)) == "big.bin"
    with acting(alice):
        with pytest.raises(QuotaExceeded):
            uploads.begin(alice, root, path="more.bin", size=3 * MIB)
        assert operations.delete(root, ["big.bin", "sub", "gone"]) == 2
        uploads.begin(alice, root, path="more.bin", size=3 * MIB)
    assert names(root) == ["notes.txt"]


def test_deleting_a_link_leaves_what_it_points_to(root: Root, alice: Actor, tmp_path: Path) -> None:
    with acting(alice):
        operations.delete(root, ["door", "link"])
    assert (tmp_path / "outside" / "secret").read_text() == "secret"
    assert not (root.path / "door").is_symlink()


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("grüße".encode(), "utf-8"),
        ("数据".encode("gb18030"), "gb18030"),
        ("数据".encode("utf-16"), "utf-16"),
        (b"\xef\xbb\xbfx", "utf-8-sig"),
    ],
)
def test_text_is_written_back_in_the_encoding_it_had(root: Root, alice: Actor, data: bytes, encoding: str) -> None:
    put(root.path, "text", data)
    with acting(alice):
        found = texts.read_text(root, "text")
        assert found.encoding == encoding
        texts.write_text(root, "text", found.text, etag=found.etag, encoding=encoding)
    assert (root.path / "text").read_bytes() == data


def test_two_people_do_not_overwrite_each_other(root: Root, alice: Actor) -> None:
    with acting(alice):
        first = texts.read_text(root, "notes.txt")
        texts.write_text(root, "notes.txt", "mine", etag=first.etag)
        with pytest.raises(Conflict, match="meanwhile"):
            texts.write_text(root, "notes.txt", "theirs", etag=first.etag)
        with pytest.raises(Conflict, match="already"):
            texts.write_text(root, "notes.txt", "new", etag=None)
    assert (root.path / "notes.txt").read_text() == "mine"
    assert names(root) == ["sub", "notes.txt"]


@pytest.mark.parametrize("data", [b"\0\1\2", b"\xff\xfe\xff", b"x" * (MIB + 1)])
def test_what_is_no_text_is_refused_in_words(root: Root, data: bytes) -> None:
    put(root.path, "blob", data)
    with pytest.raises(Invalid):
        texts.read_text(root, "blob")


def test_an_upload_goes_on_where_it_broke_off(root: Root, alice: Actor) -> None:
    with acting(alice):
        begun, _offset = uploads.begin(alice, root, path="a/b/file", size=10, fingerprint="f")
        assert uploads.append(alice, begun, offset=0, chunks=[b"0123"]) == 4
        again, offset = uploads.begin(alice, root, path="a/b/file", size=10, fingerprint="f")
        assert (again.pk, offset) == (begun.pk, 4)
        with pytest.raises(uploads.WrongOffset) as wrong:
            uploads.append(alice, again, offset=0, chunks=[b"0123"])
        assert wrong.value.offset == 4
        with pytest.raises(Conflict):
            uploads.finish(alice, again)
        with pytest.raises(Invalid):
            uploads.append(alice, again, offset=4, chunks=[b"456789TOO MUCH"])
        uploads.append(alice, again, offset=uploads.offset_of(again), chunks=[b"456789"])
        assert uploads.finish(alice, again) == "a/b/file"
        assert not Upload.objects.exists()
    assert (root.path / "a" / "b" / "file").read_bytes() == b"0123456789"
    assert used(root, alice) == 10


def test_uploads_meet_what_is_there_as_asked(root: Root, alice: Actor) -> None:
    assert upload(alice, root, "notes.txt", b"second") == "notes (2).txt"
    assert upload(alice, root, "notes.txt", b"third", Clash.SKIP) is None
    assert upload(alice, root, "notes.txt", b"fourth", Clash.REPLACE) == "notes.txt"
    assert (root.path / "notes.txt").read_bytes() == b"fourth"
    with acting(alice):
        usage.measure_row(row_of(root))
    assert used(root, alice) == 6 + 6 + 4


def test_a_cancelled_upload_gives_its_room_back(root: Root, alice: Actor) -> None:
    with acting(alice):
        begun, _offset = uploads.begin(alice, root, path="file", size=9 * MIB)
        with pytest.raises(QuotaExceeded):
            uploads.begin(alice, root, path="other", size=2 * MIB)
        uploads.append(alice, begun, offset=0, chunks=[b"x"])
        part = uploads.part_path(begun)
        uploads.cancel(begun)
        assert not part.exists()
        uploads.begin(alice, root, path="other", size=2 * MIB)


def test_a_reader_cannot_write(people: People, root: Root, alice: Actor, bob: Actor) -> None:
    with acting(alice):
        begun, _offset = uploads.begin(alice, root, path="file", size=1)
        sharing.share(alice, row_of(root), user_id=people.bob.pk, right=Right.READ)  # type: ignore[arg-type]
    with acting(bob):
        assert not resolve(bob, RootKind.VOLUME, root.id).writable
        with pytest.raises(Denied):
            resolve(bob, RootKind.VOLUME, root.id, write=True)
        with pytest.raises(NotFound):
            uploads.get(bob, begun.pk)
