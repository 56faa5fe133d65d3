"""Uploading code into the form."""

import io
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.common.scoping import acting
from apps.storage import services as storage
from apps.storage.models import Folder
from apps.training.models import Run
from tests.builders import World, platform
from tests.training.kit import PROGRAM, form_for, text

NEW = "/training/new/"


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


@pytest.mark.parametrize("path", ["/training/code/", "/api/v1/training/code/"])
def test_a_first_upload_that_is_refused_leaves_no_folder(world: World, alice: Client, home: Path, path: str) -> None:
    files = [SimpleUploadedFile("train.py", b"1"), SimpleUploadedFile("bad.zip", b"no zip")]
    assert alice.post(path, {"files": files}, headers={"Idempotency-Key": "once"}).status_code in {400, 422}
    with acting(platform()):
        assert not Folder.objects.exists()
    assert list((home / "data").glob("*/*/*")) == []


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
