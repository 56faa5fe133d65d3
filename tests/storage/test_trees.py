"""The content store: what goes in comes out, equal files lie there once, nothing in use is ever collected."""

import os
import threading
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import LazySettings
from django.db import connection

from apps.common.scoping import acting
from apps.storage import objects, trees
from apps.storage.models import Manifest, ManifestEntry, StoredObject
from apps.storage.rebuilding import materialise
from tests.builders import make_organisation, platform
from tests.searching import examples


@pytest.fixture
def organisation_id(db: None, tmp_path: Path, settings: LazySettings) -> UUID:
    settings.PLSTACK_HOME = tmp_path / "home"
    with acting(platform()):
        return make_organisation(balance_fen=0).pk


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "sub" / "empty").mkdir(parents=True)
    (root / "a.txt").write_text("same")
    (root / "sub" / "b.txt").write_text("same")
    (root / "sub" / "run.sh").write_text("#!/bin/sh\n")
    (root / "sub" / "run.sh").chmod(0o755)
    (root / "link").symlink_to("/etc/passwd")
    (root / "Notes: 数据\n.txt").write_text("a name that nobody may type")
    os.mkfifo(root / "pipe")
    return root


def contents(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


def stored(organisation_id: UUID) -> int:
    return sum(1 for path in objects.store_of(organisation_id).glob("??/*"))


def test_a_tree_comes_out_as_it_went_in(organisation_id: UUID, tree: Path, tmp_path: Path) -> None:
    with acting(platform()):
        manifest = trees.capture(organisation_id=organisation_id, root=tree)
        materialise(manifest, tmp_path / "copy")
    assert contents(tmp_path / "copy") == contents(tree)
    assert (tmp_path / "copy" / "sub" / "empty").is_dir()
    assert os.readlink(tmp_path / "copy" / "link") == "/etc/passwd"
    assert os.access(tmp_path / "copy" / "sub" / "run.sh", os.X_OK)
    assert (manifest.file_count, manifest.total_bytes) == (4, 4 + 4 + 10 + 27)


def test_equal_contents_lie_there_once(organisation_id: UUID, tree: Path) -> None:
    with acting(platform()):
        trees.capture(organisation_id=organisation_id, root=tree)
        assert stored(organisation_id) == StoredObject.objects.count() == 3
        trees.capture(organisation_id=organisation_id, root=tree)
        assert stored(organisation_id) == 3


def test_what_did_not_change_is_not_read_again(
    organisation_id: UUID, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    stage = objects.stage

    def counted(organisation: UUID, source: int, tick: objects.Tick | None) -> objects.Staged:
        read.append(source)
        return stage(organisation, source, tick)

    with acting(platform()):
        first = trees.capture(organisation_id=organisation_id, root=tree)
        monkeypatch.setattr(objects, "stage", counted)
        (tree / "a.txt").write_text("new!")
        second = trees.capture(organisation_id=organisation_id, root=tree, base=first)
    assert len(read) == 1
    assert second.total_bytes == first.total_bytes


def test_a_read_only_tree_shares_the_store_and_a_writable_one_does_not(
    organisation_id: UUID, tree: Path, tmp_path: Path
) -> None:
    with acting(platform()):
        manifest = trees.capture(organisation_id=organisation_id, root=tree)
        materialise(manifest, tmp_path / "links", read_only=True)
        materialise(manifest, tmp_path / "copies")
    assert (tmp_path / "links" / "a.txt").stat().st_nlink == 3
    assert (tmp_path / "copies" / "a.txt").stat().st_nlink == 1
    (tmp_path / "copies" / "a.txt").write_text("changed")
    assert (tmp_path / "links" / "sub" / "b.txt").read_text() == "same"


def test_only_what_nothing_refers_to_is_collected(organisation_id: UUID, tree: Path, tmp_path: Path) -> None:
    with acting(platform()):
        kept = trees.capture(organisation_id=organisation_id, root=tree)
        (tree / "a.txt").write_text("passing")
        passing = trees.capture(organisation_id=organisation_id, root=tree)
        assert objects.collect_garbage() == 0
        trees.drop_manifest(passing)
        assert objects.collect_garbage() == 1
        materialise(kept, tmp_path / "copy")
    assert (tmp_path / "copy" / "a.txt").read_text() == "same"


def test_a_capture_that_was_killed_goes_on_where_it_stopped(
    organisation_id: UUID, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "BATCH_FILES", 2)

    def die(files: int, size: int) -> None:
        raise KeyboardInterrupt

    with acting(platform()):
        with pytest.raises(KeyboardInterrupt):
            trees.capture(organisation_id=organisation_id, root=tree, progress=die)
        unfinished = Manifest.objects.get()
        assert not unfinished.complete
        before = set(unfinished.entries.values_list("pk", flat=True))
        manifest = trees.capture(organisation_id=organisation_id, root=tree, unfinished=unfinished)
        assert manifest.complete
        assert before < set(ManifestEntry.objects.values_list("pk", flat=True))
        assert manifest.file_count == 4


def test_a_content_without_a_row_is_adopted_and_collected(organisation_id: UUID, tree: Path) -> None:
    """What kill -9 between renaming and committing leaves behind."""
    with acting(platform()):
        trees.capture(organisation_id=organisation_id, root=tree)
        ManifestEntry.objects.all().delete()
        StoredObject.objects.all().delete()
        assert objects.adopt_strays(organisation_id) == 3
        assert objects.collect_garbage() == 3
    assert stored(organisation_id) == 0


def test_a_content_that_the_store_lost_is_read_again(organisation_id: UUID, tree: Path, tmp_path: Path) -> None:
    with acting(platform()):
        first = trees.capture(organisation_id=organisation_id, root=tree)
        for path in objects.store_of(organisation_id).glob("??/*"):
            path.unlink()
        second = trees.capture(organisation_id=organisation_id, root=tree, base=first)
        materialise(second, tmp_path / "copy")
    assert contents(tmp_path / "copy") == contents(tree)


def test_a_link_where_a_folder_was_leads_nowhere(organisation_id: UUID, tree: Path, tmp_path: Path) -> None:
    """A manifest that a swap during the walk could have made: a link, and a file below its name."""
    with acting(platform()):
        manifest = trees.capture(organisation_id=organisation_id, root=tree)
        outside = tmp_path / "outside"
        outside.mkdir()
        ManifestEntry.objects.filter(manifest=manifest, path="sub").update(kind="l", target=str(outside))
        with pytest.raises(Exception, match="does not exist"):
            materialise(manifest, tmp_path / "copy")
    assert list(outside.iterdir()) == []


@pytest.mark.sweep
@pytest.mark.django_db(transaction=True)
def test_capturing_and_collecting_at_once_loses_nothing(tmp_path: Path, settings: LazySettings) -> None:
    settings.PLSTACK_HOME = tmp_path / "home"
    root = tmp_path / "tree"
    root.mkdir()
    (root / "file").write_text("wanted again and again")
    with acting(platform()):
        organisation_id = make_organisation(balance_fen=0).pk
    stop = threading.Event()

    def sweep() -> None:
        try:
            with acting(platform()):
                while not stop.is_set():
                    objects.collect_garbage()
        finally:
            connection.close()

    threads = [threading.Thread(target=sweep) for _one in range(2)]
    for thread in threads:
        thread.start()
    try:
        with acting(platform()):
            for number in range(examples(60)):
                manifest = trees.capture(organisation_id=organisation_id, root=root)
                materialise(manifest, tmp_path / f"copy-{number}")
                assert (tmp_path / f"copy-{number}" / "file").read_text() == "wanted again and again"
                trees.drop_manifest(manifest)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
