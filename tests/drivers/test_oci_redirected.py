"""Images of a real registry whose blobs lie in an object store: nodes follow, and tell nobody a credential."""

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from apps.workloads.drivers.base import PullRules, Reference
from apps.workloads.drivers.local.oci import pull, registry
from apps.workloads.drivers.local.oci.manifest import Blob
from apps.workloads.drivers.local.oci.pushing import Target
from apps.workloads.drivers.local.oci.store import Store
from apps.workloads.drivers.said import Code
from tests.drivers.redirecting import Front, redirecting
from tests.drivers.registries import Registry, digest_of, layer
from tests.drivers.registries import registry as registry_of

pytestmark = pytest.mark.programs
FILE = ("srv/data", b"x" * 200_000)


@pytest.fixture
def behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setattr(registry, "PAUSE_S", 0.0)
    with registry_of(tmp_path) as found:
        yield found


@pytest.fixture
def front(behind: Registry) -> Iterator[Front]:
    with redirecting(behind.host) as found:
        yield found


@pytest.fixture
def image(behind: Registry, front: Front) -> Reference:
    return replace(behind.image(layer(FILE)), repository=f"{front.host}/team/box")


@pytest.fixture
def home(tmp_path: Path, front: Front) -> Path:
    """With a credential for the registry."""
    found = tmp_path / "home"
    found.mkdir()
    login = base64.b64encode(b"user:secret").decode()
    (found / "registry-auth.json").write_text(json.dumps({"auths": {front.host: {"auth": login}}}))
    return found


def fetch(front: Front, image: Reference, home: Path, bearer: str = "") -> Path:
    rules = PullRules(plain_http=(front.host,), most_mib=256, most_files=20_000)
    pull.Pull(pull.Job(image, home, rules, bearer=bearer), lambda *_: None).run()
    return Store(home).tree(image)


def test_it_is_followed_without_a_credential(front: Front, image: Reference, home: Path) -> None:
    tree = fetch(front, image, home, bearer="a-token-of-the-registry")
    assert (tree / "srv/data").read_bytes() == FILE[1]
    assert len(front.asked_store) == 2, "configuration and layer"
    assert front.secrets_told == []


def test_a_line_that_breaks_goes_on_where_it_was(front: Front, behind: Registry, tmp_path: Path) -> None:
    data = b"y" * 100_000
    behind.blob(data)
    path = tmp_path / "part"
    path.write_bytes(data[:40_000])
    client = registry.Registry(registry.Access(front.host, plain_http=True), "team/box")
    client.fetch_whole(Blob(digest_of(data), len(data)), path)
    assert path.read_bytes() == data
    assert [headers.get("Range") for _method, _path, headers in front.asked_store] == ["bytes=40000-"]


def test_a_store_that_asks_for_a_credential_gets_none(front: Front, image: Reference, home: Path) -> None:
    front.challenge = f'Bearer realm="http://{front.store}/token",service="store"'
    with pytest.raises(pull.PullFailed) as failure:
        fetch(front, image, home)
    assert failure.value.said.code is Code.REGISTRY_REFUSES
    assert front.secrets_told == []
    assert not any("/token" in path for _method, path, _headers in front.asked_store)


@pytest.mark.parametrize(
    "place", ["http://169.254.169.254/latest/meta-data", "http://127.0.0.1:1/x", "http://[::1]:1/x", "ftp://a.b/c"]
)
def test_it_leads_to_nothing_of_this_machine_alone(front: Front, image: Reference, home: Path, place: str) -> None:
    front.leads_to = place
    with pytest.raises(pull.PullFailed) as failure:
        fetch(front, image, home)
    assert failure.value.said.code in (Code.REGISTRY_UNREACHABLE, Code.REGISTRY_REFUSES)
    assert "lead" in str(failure.value.said) or failure.value.said.code is Code.REGISTRY_REFUSES
    assert not Store(home).has(image)


def test_whether_it_has_a_blob_is_asked_by_the_method_that_was_signed(front: Front, behind: Registry) -> None:
    data = b"z" * 5000
    behind.blob(data)
    target = Target(registry.Access(front.host, plain_http=True, bearer="a-token"), "team/box")
    assert target.has(digest_of(data))
    assert [method for method, _path, _headers in front.asked_store] == ["HEAD"]
    assert not target.has(digest_of(b"absent"))
    assert front.secrets_told == []
