"""Pages of volumes, datasets and files: who sees what, what a wrong turn says, what a dialog does."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.storage import datasets, volumes
from apps.storage.models import Dataset, Volume
from tests.builders import platform, signed_in
from tests.storage.conftest import People
from tests.storage.kit import body, make_volume, put, text

NOTEBOOK = {
    "nbformat": 4,
    "metadata": {"kernelspec": {"display_name": "Python 3"}},
    "cells": [
        {"cell_type": "markdown", "source": ["# Title <script>alert(1)</script>"]},
        {
            "cell_type": "code",
            "execution_count": 3,
            "source": "print('<b>')",
            "outputs": [
                {"output_type": "stream", "text": ["<img src=x onerror=alert(2)>"]},
                {
                    "output_type": "display_data",
                    "data": {"text/html": "<script>alert(3)</script>", "text/plain": "plain"},
                },
                {"output_type": "display_data", "data": {"image/png": "bm90IGEgcGljdHVyZQ=="}},
                {"output_type": "display_data", "data": {"image/svg+xml": "<svg onload=alert(4)>"}},
            ],
        },
        "no cell at all",
    ],
}


@pytest.fixture
def client(people: People) -> Client:
    return signed_in(people.alice)


@pytest.fixture
def volume(alice: Actor) -> Volume:
    volume = make_volume(alice, "work", size_mib=10)
    root = volumes.root_of(volume)
    put(root, "sub/notes.txt", "hello\r\nthere\r\n")
    put(root, "look.ipynb", json.dumps(NOTEBOOK))
    put(root, "evil.svg", "<svg onload=alert(1)>")
    put(root, "page.html", "<script>alert(1)</script>")
    return volume


def page(name: str, volume: Volume, *args: Any, **query: str) -> str:
    return reverse(f"storage:{name}", args=["volume", volume.pk, *args], query=query or None)


def test_the_lists_say_what_they_are_for_while_they_are_empty(client: Client) -> None:
    assert "No volume yet" in text(client.get(reverse("storage:volumes")))
    assert "No dataset yet" in text(client.get(reverse("storage:datasets")))


def test_a_volume_is_made_and_its_files_are_shown(client: Client, people: People) -> None:
    refused = client.post(reverse("storage:volume_new"), {"name": "two words", "size_mib": "1"})
    assert refused.status_code == 422
    assert "no spaces" in text(refused)
    assert 'value="two words"' in text(refused)
    made = client.post(reverse("storage:volume_new"), {"name": "work", "size_mib": "0.5"})
    with acting(platform()):
        volume = Volume.objects.get()
        assert volume.size_mib == 512
        assert Entry.objects.filter(action="volume.created", target_id=str(volume.pk)).exists()
    assert made.headers["Location"] == reverse("storage:volume", args=[volume.pk])
    assert "No files yet" in text(client.get(made.headers["Location"]))


def test_the_list_finds_pages_and_keeps_the_bin_apart(client: Client, alice: Actor, volume: Volume) -> None:
    with acting(alice):
        for number in range(30):
            volumes.create(alice, name=f"v{number:02d}", size_mib=1)
        volumes.delete(alice, volume)
    url = reverse("storage:volumes")
    assert "30 in all" in text(client.get(url))
    assert "v07" in text(client.get(url, {"q": "v07"}))
    assert "v08" not in text(client.get(url, {"q": "v07"}))
    binned = text(client.get(url, {"bin": "on"}))
    assert "work" in binned
    assert "removed for good" in binned


def test_lists_cost_the_same_whatever_is_in_them(client: Client, alice: Actor) -> None:
    with acting(alice):
        volumes.create(alice, name="first", size_mib=1)
        datasets.create(alice, name="first")
    client.get(reverse("storage:volumes"))  # what is looked up once and remembered
    before = [queries(client, name) for name in LISTS]
    with acting(alice):
        for number in range(24):
            volumes.create(alice, name=f"v{number:02d}", size_mib=1)
            datasets.create(alice, name=f"d{number:02d}")
    assert [queries(client, name) for name in LISTS] == before


LISTS = ("storage:volumes", "storage:datasets")


def queries(client: Client, name: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        client.get(reverse(name))
    return len(captured)


def test_the_file_manager_shows_a_folder_and_moves_the_address(client: Client, volume: Volume) -> None:
    host = f"http://testserver{reverse('storage:volume', args=[volume.pk])}?tab=files&path=old"
    response = client.get(page("files", volume, path="sub"), headers={"HX-Request": "true", "HX-Current-URL": host})
    assert "notes.txt" in text(response)
    assert "<html" not in text(response)
    assert response.headers["HX-Push-Url"].endswith("?tab=files&path=sub")
    again = client.get(
        page("files", volume, path="sub"),
        headers={"HX-Request": "true", "HX-Current-URL": f"http://testserver{response.headers['HX-Push-Url']}"},
    )
    assert "HX-Push-Url" not in again.headers
    assert "This folder is not there" in text(client.get(page("files", volume, path="gone")))
    assert "This folder is not there" in text(client.get(page("files", volume, path="../..")))


def test_what_is_used_is_told_anew_with_each_look_at_the_files(client: Client, volume: Volume) -> None:
    """The head of the page said 0 B until it was loaded again, whatever had been uploaded."""
    with acting(platform()):
        Volume.objects.filter(pk=volume.pk).update(used_bytes=3_000_000)
    looked = text(client.get(page("files", volume), headers={"HX-Request": "true"}))
    assert 'id="fm-usage" hx-swap-oob="true"' in looked
    assert "3 MB" in looked
    assert "of 10 MiB" in looked
    whole = text(client.get(page("files", volume)))
    assert 'id="fm-usage"' in whole
    assert "hx-swap-oob" not in whole


def test_dialogs_ask_do_and_come_back_with_what_is_wrong(client: Client, volume: Volume) -> None:
    ask = client.get(page("act", volume, "rename", path="sub/notes.txt"))
    assert 'value="notes.txt"' in text(ask)
    wrong = client.post(page("act", volume, "rename"), {"path": "sub/notes.txt", "name": "a/b"})
    assert wrong.status_code == 422
    assert "without slashes" in text(wrong)
    done = client.post(page("act", volume, "rename"), {"path": "sub/notes.txt", "name": "n.txt"})
    assert done.status_code == 204
    assert set(json.loads(done.headers["HX-Trigger"])) == {"pl:close", "pl:files"}
    client.post(page("act", volume, "folder"), {"at": "sub", "name": "deep"})
    assert "deep" in text(client.get(page("act", volume, "move", path="page.html", at="sub")))
    client.post(page("act", volume, "move"), {"path": ["page.html"], "at": "sub/deep"})
    client.post(page("act", volume, "delete"), {"path": ["evil.svg", "look.ipynb"]})
    root = volumes.root_of(volume)
    assert sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()) == [
        "sub/deep/page.html",
        "sub/n.txt",
    ]


def test_text_is_edited_with_its_line_ends_and_a_conflict_keeps_what_was_typed(client: Client, volume: Volume) -> None:
    url = page("show", volume, path="sub/notes.txt")
    found = text(client.get(url))
    etag = found.partition('name="etag" value="')[2].partition('"')[0]
    posted = {"text": "hello\r\nyou\r\n", "etag": etag, "encoding": "utf-8", "lines": "crlf"}
    assert client.post(url, posted).status_code == 302
    assert (volumes.root_of(volume) / "sub" / "notes.txt").read_bytes() == b"hello\r\nyou\r\n"
    stale = client.post(url, {**posted, "text": "my long thoughts"})
    assert stale.status_code == 409
    assert "my long thoughts" in text(stale)
    assert "changed by someone else" in text(stale)


def test_a_notebook_is_shown_and_nothing_of_it_runs(client: Client, volume: Volume) -> None:
    shown = text(client.get(page("show", volume, path="look.ipynb")))
    assert "&lt;script&gt;alert(1)" in shown
    assert "plain" in shown
    for trap in ("<script>alert", "<script>3", "<img src=x", "<svg onload", "bm90IGEg"):
        assert trap not in shown
    assert '"nbformat"' in text(client.get(page("show", volume, path="look.ipynb", raw="1"))).replace("&quot;", '"')


@pytest.mark.parametrize("name", ["evil.svg", "page.html"])
def test_files_that_could_run_are_only_ever_downloads(client: Client, volume: Volume, name: str) -> None:
    for query in ({"path": name}, {"path": name, "show": "1"}):
        response = client.get(page("raw", volume, **query))
        assert response.headers["Content-Disposition"].startswith("attachment")
        assert response.headers["Content-Type"] == "application/octet-stream"
        assert response.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "<svg onload" not in text(client.get(page("show", volume, path="evil.svg")))


def test_a_folder_comes_as_a_zip(client: Client, volume: Volume) -> None:
    response = client.get(page("zip", volume, path="sub"))
    assert response.headers["Content-Disposition"] == 'attachment; filename="sub.zip"'
    assert body(response).startswith(b"PK")


def test_who_may_only_read_is_offered_nothing_else(client: Client, people: People, volume: Volume) -> None:
    url = reverse("storage:volume", args=[volume.pk])
    client.post(reverse("storage:volume_share", args=[volume.pk]), {"user": people.bob.pk, "right": "read"})
    bob = signed_in(people.bob)
    shown = text(bob.get(url))
    assert "look.ipynb" in shown
    assert "data-fm-choose" not in shown
    assert "Change the size" not in text(bob.get(f"{url}?tab=settings"))
    assert bob.post(f"{url}?tab=settings", {"size_mib": "1"}).status_code == 403
    assert bob.post(page("act", volume, "delete"), {"path": "sub"}).status_code == 403
    assert bob.post(reverse("storage:volume_act", args=[volume.pk, "delete"])).status_code == 403
    assert signed_in(people.charlie).get(url).status_code == 404


def test_a_volume_goes_into_the_bin_and_comes_back(client: Client, volume: Volume) -> None:
    ask = reverse("storage:volume_act", args=[volume.pk, "delete"])
    assert "Delete the volume work?" in text(client.get(ask))
    assert client.post(ask).status_code == 302
    assert client.get(reverse("storage:volume", args=[volume.pk])).status_code == 404
    client.post(reverse("storage:volume_act", args=[volume.pk, "restore"]))
    assert client.get(reverse("storage:volume", args=[volume.pk])).status_code == 200


def test_a_dataset_is_made_in_two_steps(client: Client, volume: Volume) -> None:
    made = client.post(reverse("storage:dataset_new"), {"name": "digits"})
    with acting(platform()):
        dataset = Dataset.objects.get()
    assert made.headers["Location"] == reverse("storage:version_new", args=[dataset.pk])
    assert "Drop files" in text(client.get(made.headers["Location"]))
    missing = client.post(made.headers["Location"], {"source": "volume", "volume": ""})
    assert missing.status_code == 422
    begun = client.post(made.headers["Location"], {"source": "volume", "volume": str(volume.pk), "note": "first"})
    assert begun.status_code == 302
    assert "Version 1 of digits" in text(client.get(reverse("storage:dataset", args=[dataset.pk])))
