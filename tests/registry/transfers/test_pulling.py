"""Pulled from one real registry into another: the bytes, who may, and what each failure says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.audit.models import Entry
from apps.common.scoping import acting
from apps.registry.choices import TransferStatus as Status
from apps.registry.distribution.client import Client as RegistryClient
from apps.registry.models import ImageManifest, ImageTransfer
from apps.registry.transfers import copying, services, working
from apps.registry.transfers.words import problem_words
from apps.tenants.models import Membership
from tests.builders import actor_of, make_member, platform
from tests.drivers.registries import ARCHITECTURE, digest_of, layer
from tests.registry import serving
from tests.registry.serving import Site, login, oci_layout
from tests.registry.test_registry_tokens import Person
from tests.registry.transfers.kit import MB, again, ask, kill_in_the_middle, pulled, tags_of, work
from tests.registry.transfers.sources import PASSWORD, USER, Source, large_layer

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not (serving.PROGRAM and serving.SKOPEO), reason="needs docker-registry and skopeo"),
]


def actions() -> list[str]:
    with acting(platform()):
        rows = Entry.objects.filter(action__startswith="image.pull").order_by("pk")
        return list(rows.values_list("action", flat=True))


def same_bytes(first: Path, second: Path) -> bool:
    """The blobs of two image layouts."""
    found = [{path.name: path.read_bytes() for path in (one / "blobs/sha256").iterdir()} for one in (first, second)]
    return found[0] == found[1]


def test_what_is_pulled_is_what_the_source_has(site: Site, source: Source, alice: Person, tmp_path: Path) -> None:
    digest = oci_layout(tmp_path / "image", [layer(("a", b"a" * 1000)), layer(("b", b"b" * 1000))])
    source.push(tmp_path / "image", "team/torch:2.9")
    asked = ask(alice, f"{source.host}/team/torch:2.9")
    assert (asked.repository_name, asked.tag) == (f"{alice.mine}/torch", "2.9")
    assert tags_of(asked) == {}
    transfer = work(asked)
    assert (transfer.status, problem_words(transfer)) == (Status.SUCCEEDED, "")
    assert transfer.digest == digest
    assert (transfer.layers, transfer.layers_done) == (2, 3)
    assert transfer.done_bytes == transfer.total_bytes > 0
    assert tags_of(transfer) == {"2.9": digest}
    back = site.pull(f"{alice.mine}/torch:2.9", tmp_path / "back", login(alice))
    assert back.returncode == 0, back.stderr
    assert same_bytes(tmp_path / "image", tmp_path / "back")
    assert actions() == ["image.pull_asked", "image.pulled"]
    with acting(platform()):
        manifest = ImageManifest.objects.get(digest=digest)
        assert manifest.pushed_by == alice.user
        assert manifest.tags.get().pushed_by == alice.user
    assert not copying.folder_of(transfer.pk).exists()


def test_with_user_and_password_which_are_sealed_and_then_forgotten(
    guarded: Source, alice: Person, tmp_path: Path
) -> None:
    oci_layout(tmp_path / "image")
    guarded.push(tmp_path / "image", "team/torch:1")
    address = f"{guarded.host}/team/torch:1"
    refused = pulled(alice, address)
    assert (refused.status, refused.problem) == (Status.FAILED, "no_right")
    wrong = pulled(alice, address, username=USER, password="another")
    assert wrong.problem == "no_right"
    assert tags_of(wrong) == {}
    asked = ask(alice, address, username=USER, password=PASSWORD)
    assert PASSWORD.encode() not in bytes(again(asked).credential or b"")
    transfer = work(asked)
    assert transfer.status == Status.SUCCEEDED, problem_words(transfer)
    assert all(each.credential is None for each in (refused, wrong, transfer))
    with acting(platform()):
        kept = " ".join(str(row) for row in Entry.objects.values())
    assert PASSWORD not in kept


def both_architectures(folder: Path) -> None:
    """An index for two architectures, as one layout."""
    oci_layout(folder, [layer(("one", b"1" * 500))])
    oci_layout(folder / "arm", [layer(("two", b"2" * 500))])
    blobs = folder / "blobs" / "sha256"
    for path in (folder / "arm" / "blobs" / "sha256").iterdir():
        (blobs / path.name).write_bytes(path.read_bytes())
    entries = []
    for part, machine in ((folder, "amd64"), (folder / "arm", "arm64")):
        entry = json.loads((part / "index.json").read_text())["manifests"][0]
        entries.append({**entry, "platform": {"os": "linux", "architecture": machine}})
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": entries}
    body = json.dumps(index).encode()
    digest = digest_of(body)
    (blobs / digest.removeprefix("sha256:")).write_bytes(body)
    outer = {"mediaType": index["mediaType"], "digest": digest, "size": len(body)}
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [outer]}))


def test_an_index_comes_whole_or_for_one_architecture(source: Source, alice: Person, tmp_path: Path) -> None:
    both_architectures(tmp_path / "image")
    source.push(tmp_path / "image", "team/both:1")
    address = f"{source.host}/team/both:1"
    whole = pulled(alice, address)
    assert whole.status == Status.SUCCEEDED, problem_words(whole)
    one = pulled(alice, address, name="one", platform="linux/arm64")
    assert one.status == Status.SUCCEEDED, problem_words(one)
    with acting(platform()):
        index = ImageManifest.objects.get(digest=tags_of(whole)["1"])
        assert len(index.children) == 2
        assert index.platform == "linux/amd64, linux/arm64"
        assert ImageManifest.objects.get(repository__name=one.repository_name).digest == index.children[1]
    assert one.total_bytes < whole.total_bytes


def test_an_image_for_another_architecture_says_which(source: Source, alice: Person, tmp_path: Path) -> None:
    oci_layout(tmp_path / "image")
    source.push(tmp_path / "image", "team/torch:1")
    other = "linux/arm64" if ARCHITECTURE == "amd64" else "linux/amd64"
    transfer = pulled(alice, f"{source.host}/team/torch:1", platform=other)
    assert transfer.problem == "other_architecture"
    assert f"linux/{ARCHITECTURE}" in problem_words(transfer)
    assert tags_of(transfer) == {}


def test_what_is_here_already_is_not_fetched_again(source: Source, alice: Person, tmp_path: Path) -> None:
    shared = layer(("shared", b"s" * 5000))
    oci_layout(tmp_path / "one", [shared])
    oci_layout(tmp_path / "two", [shared, layer(("more", b"m" * 100))])
    source.push(tmp_path / "one", "team/one:1")
    source.push(tmp_path / "two", "team/two:1")
    assert pulled(alice, f"{source.host}/team/one:1").status == Status.SUCCEEDED
    where = tmp_path / "source" / "storage" / "docker/registry/v2/blobs/sha256"
    digest = digest_of(shared).removeprefix("sha256:")
    (where / digest[:2] / digest / "data").unlink()  # so that nobody can have it from there
    transfer = pulled(alice, f"{source.host}/team/two:1")
    assert transfer.status == Status.SUCCEEDED, problem_words(transfer)


def test_a_colleagues_private_layers_are_not_taken_by_their_digest(
    source: Source, alice: Person, tmp_path: Path
) -> None:
    shared = layer(("shared", b"s" * 5000))
    oci_layout(tmp_path / "one", [shared])
    source.push(tmp_path / "one", "team/one:1")
    assert pulled(alice, f"{source.host}/team/one:1").status == Status.SUCCEEDED
    where = tmp_path / "source" / "storage" / "docker/registry/v2/blobs/sha256"
    digest = digest_of(shared).removeprefix("sha256:")
    (where / digest[:2] / digest / "data").unlink()
    with acting(platform()):
        bob = Person(make_member(alice.organisation, "bob"), alice.organisation, "")
    transfer = pulled(bob, f"{source.host}/team/one:1")
    assert transfer.problem == "not_there"


def test_what_is_not_there_and_a_source_that_is_away_are_told_apart(
    source: Source, alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.workloads.drivers.local.oci.registry.PAUSE_S", 0.001)
    missing = pulled(alice, f"{source.host}/team/nothing:1")
    assert missing.problem == "not_there"
    source.process.kill()
    source.process.wait()
    away = pulled(alice, f"{source.host}/team/nothing:1")
    assert away.problem == "interrupted"
    assert source.host in problem_words(away)
    assert actions().count("image.pull_failed") == 2


def test_beyond_the_capacity_nothing_is_fetched(
    source: Source, alice: Person, tmp_path: Path, settings: LazySettings
) -> None:
    oci_layout(tmp_path / "image", [large_layer(MB)])
    source.push(tmp_path / "image", "team/large:1")
    settings.REGISTRY_ORGANISATION_BYTES = MB // 2
    transfer = pulled(alice, f"{source.host}/team/large:1")
    assert (transfer.problem, transfer.done_bytes) == ("over_capacity", 0)
    assert "500" in problem_words(transfer) or "488" in problem_words(transfer)
    assert tags_of(transfer) == {}


def test_what_is_on_its_way_has_its_room_reserved(
    source: Source, alice: Person, tmp_path: Path, settings: LazySettings
) -> None:
    for name in ("one", "two"):
        oci_layout(tmp_path / name, [large_layer(MB)])
        source.push(tmp_path / name, f"team/{name}:1")
    settings.REGISTRY_ORGANISATION_BYTES = 3 * MB // 2
    first = ask(alice, f"{source.host}/team/one:1")
    with acting(platform()):
        ImageTransfer.objects.filter(pk=first.pk).update(status=Status.RUNNING, added_bytes=MB)
    second = pulled(alice, f"{source.host}/team/two:1")
    assert second.problem == "over_capacity"
    assert work(first).status == Status.SUCCEEDED


@pytest.mark.parametrize(("rule", "problem"), [("most_layers", "too_many_layers"), ("most_mib", "too_large")])
def test_images_beyond_the_limits_are_refused(
    source: Source, alice: Person, tmp_path: Path, settings: LazySettings, rule: str, problem: str
) -> None:
    oci_layout(tmp_path / "image", [large_layer(2 * MB), layer(("b", b"b"))])
    source.push(tmp_path / "image", "team/large:1")
    settings.IMAGE_PULL_RULES = replace(settings.IMAGE_PULL_RULES, **{rule: 1})
    transfer = pulled(alice, f"{source.host}/team/large:1")
    assert transfer.problem == problem
    assert problem_words(transfer)


def test_a_layer_that_is_not_what_it_is_called_stays_out(source: Source, alice: Person, tmp_path: Path) -> None:
    blob = layer(("a", b"a" * 1000))
    oci_layout(tmp_path / "image", [blob])
    source.push(tmp_path / "image", "team/torch:1")
    digest = digest_of(blob).removeprefix("sha256:")
    data = tmp_path / "source/storage/docker/registry/v2/blobs/sha256" / digest[:2] / digest / "data"
    data.write_bytes(bytes(reversed(blob)))
    transfer = pulled(alice, f"{source.host}/team/torch:1")
    assert transfer.problem == "damaged"
    assert tags_of(transfer) == {}
    with RegistryClient() as client:
        assert not client.has_blob(transfer.repository_name, digest_of(blob))


def test_a_right_that_ends_meanwhile_ends_the_pull(source: Source, alice: Person, tmp_path: Path) -> None:
    oci_layout(tmp_path / "image")
    source.push(tmp_path / "image", "team/torch:1")
    asked = ask(alice, f"{source.host}/team/torch:1")
    with acting(platform()):
        Membership.objects.filter(user=alice.user).delete()
    assert work(asked).problem == "may_not_push"


def test_a_killed_worker_is_followed_by_one_that_goes_on(source: Source, alice: Person, tmp_path: Path) -> None:
    digest = oci_layout(tmp_path / "image", [large_layer(60 * MB), layer(("b", b"b"))])
    source.push(tmp_path / "image", "team/large:1")
    asked = ask(alice, f"{source.host}/team/large:1")
    fetched = kill_in_the_middle(asked)
    assert 0 < fetched < 60 * MB
    assert (again(asked).status, tags_of(asked)) == (Status.RUNNING, {})
    with acting(platform()):
        assert [pk for pk, _organisation, _owner in working.due()] == [asked.pk]
    transfer = work(asked)
    assert transfer.status == Status.SUCCEEDED, problem_words(transfer)
    assert tags_of(transfer) == {"1": digest}


def test_cancelled_in_the_middle_nothing_is_left(source: Source, alice: Person, tmp_path: Path) -> None:
    oci_layout(tmp_path / "image", [large_layer(60 * MB)])
    source.push(tmp_path / "image", "team/large:1")
    asked = ask(alice, f"{source.host}/team/large:1")
    kill_in_the_middle(asked)
    actor = actor_of(alice.user, alice.organisation)
    with acting(actor):
        assert services.cancel(actor, asked.pk).status == Status.STOPPED
    assert work(asked).status == Status.STOPPED
    with acting(platform()):
        assert list(working.due()) == []
    assert not copying.folder_of(asked.pk).exists()
    assert tags_of(asked) == {}
    with RegistryClient() as client:
        assert client.tags(asked.repository_name) == []
