"""The real registry and a real client: who may push and pull what, at the platform's own address."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.registry.distribution import bearer
from apps.registry.distribution.bearer import Grant
from apps.tenants.choices import Role
from tests.builders import (
    make_organisation,
    platform,
)
from tests.drivers.registries import digest_of
from tests.registry import serving
from tests.registry.serving import Site, ask, login, oci_layout
from tests.registry.test_registry_tokens import Person, person

REFUSAL = re.compile(r"requested access to the resource is denied|unauthorized")

pytestmark = [
    pytest.mark.programs,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not (serving.PROGRAM and serving.SKOPEO), reason="needs docker-registry and skopeo"),
]


@pytest.fixture
def site(tmp_path: Path, settings: LazySettings) -> Iterator[Site]:
    with serving.running(tmp_path, settings) as found:
        yield found


@pytest.fixture
def alice(site: Site) -> Person:
    with acting(platform()):
        return person(make_organisation(), "alice")


@pytest.fixture
def charlie(site: Site) -> Person:
    with acting(platform()):
        return person(make_organisation(), "charlie", Role.ADMIN)


def test_what_is_pushed_comes_back_and_stays_ones_own(
    site: Site, alice: Person, charlie: Person, tmp_path: Path
) -> None:
    digest = oci_layout(tmp_path / "image")
    where = f"{alice.mine}/greeting:1"
    pushed = site.push(tmp_path / "image", where, login(alice))
    assert pushed.returncode == 0, pushed.stderr
    pulled = site.pull(where, tmp_path / "back", login(alice))
    assert pulled.returncode == 0, pulled.stderr
    assert json.loads((tmp_path / "back" / "index.json").read_text())["manifests"][0]["digest"] == digest

    theirs = site.pull(where, tmp_path / "theirs", login(charlie))
    nothing = site.pull(f"{alice.mine}/nothing:1", tmp_path / "nothing", login(charlie))
    assert theirs.returncode
    assert nothing.returncode
    assert REFUSAL.findall(theirs.stderr) == REFUSAL.findall(nothing.stderr) != []
    assert site.push(tmp_path / "image", f"{alice.mine}/taken:1", login(charlie)).returncode
    assert site.pull(where, tmp_path / "nobody", "nobody:pls_x").returncode


def test_a_token_opens_what_it_names_and_nothing_else(site: Site, alice: Person, tmp_path: Path) -> None:
    oci_layout(tmp_path / "image")
    assert site.push(tmp_path / "image", f"{alice.mine}/greeting:1", login(alice)).returncode == 0
    path = f"/v2/{alice.mine}/greeting/manifests/1"
    mine = f"{alice.mine}/greeting"
    pull = bearer.issue("alice", [Grant(mine, frozenset({"pull"}))])
    assert ask(site, "GET", path, pull)[0] == 200
    assert ask(site, "GET", path)[0] == 401
    assert ask(site, "GET", path, "nonsense")[0] == 401
    assert ask(site, "GET", path, bearer.issue("alice", [Grant(f"{mine}2", frozenset({"pull"}))]))[0] == 401
    assert ask(site, "GET", path, bearer.issue("alice", [Grant(mine, frozenset({"pull"}))], lifetime_s=-3600))[0] == 401
    assert ask(site, "PUT", path, pull, b"{}")[0] == 401
    assert ask(site, "DELETE", path, pull)[0] == 401
    assert ask(site, "GET", "/v2/_catalog", pull)[0] == 401
    assert ask(site, "GET", f"/v2/{alice.mine}/greeting/../../x/manifests/1", pull)[0] in (301, 401, 404)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b'{"schemaVersion": 2, "layers": {}}',
        b'{"schemaVersion": 2, "manifests": 3}',
        b"[" * 100_000,
        json.dumps({"schemaVersion": 2, "config": {"digest": digest_of(b""), "size": -1}, "layers": []}).encode(),
        json.dumps({"schemaVersion": 2, "config": {"digest": digest_of(b""), "size": 2**70}, "layers": []}).encode(),
        b"{" + b" " * 4 * 1024 * 1024 + b"}",
    ],
    ids=["empty", "nonsense", "list", "object", "layers", "manifests", "deep", "negative", "vast", "large"],
)
def test_what_is_no_manifest_is_refused(site: Site, alice: Person, body: bytes) -> None:
    name = f"{alice.mine}/odd"
    push = bearer.issue("alice", [Grant(name, frozenset({"pull", "push"}))])
    status, answer = ask(site, "PUT", f"/v2/{name}/manifests/1", push, body)
    assert status in (400, 413), answer
    assert json.loads(answer)["errors"][0]["code"] == "MANIFEST_INVALID"


def test_an_image_beyond_the_organisations_capacity_is_refused_in_words(
    site: Site, alice: Person, tmp_path: Path, settings: LazySettings
) -> None:
    oci_layout(tmp_path / "image")
    settings.REGISTRY_ORGANISATION_BYTES = 300
    refused = site.push(tmp_path / "image", f"{alice.mine}/greeting:1", login(alice))
    assert refused.returncode
    assert "300" in refused.stderr
    assert "image registry" in refused.stderr
    assert site.pull(f"{alice.mine}/greeting:1", tmp_path / "back", login(alice)).returncode


def test_while_the_registry_is_away_clients_are_told_to_come_again(site: Site, alice: Person) -> None:
    site.server.kill()
    site.server.wait()
    status, answer = ask(site, "GET", "/v2/")
    assert status == 503
    assert json.loads(answer)["errors"][0]["code"] == "UNAVAILABLE"


def test_without_a_registry_its_address_says_so(site: Site, settings: LazySettings) -> None:
    settings.REGISTRY_SOCKET = ""
    assert ask(site, "GET", "/v2/")[0] == 404
