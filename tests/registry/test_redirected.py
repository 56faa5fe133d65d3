"""The platform's own questions to a registry elsewhere whose blobs lie in an object store."""

from collections.abc import Iterator
from pathlib import Path

import httpcore
import pytest
from django.conf import LazySettings

from apps.registry.distribution import redirects
from apps.registry.distribution.client import Client, LeadsAway, RegistryAway
from tests.drivers.redirecting import Front, redirecting
from tests.drivers.registries import digest_of
from tests.drivers.registries import registry as registry_of

pytestmark = pytest.mark.programs
DATA, NAME = b"d" * 300_000, "team/box"


@pytest.fixture
def front(tmp_path: Path, settings: LazySettings) -> Iterator[Front]:
    (tmp_path / "secrets").mkdir(mode=0o700)
    settings.PLSTACK_HOME = str(tmp_path)
    with registry_of(tmp_path) as behind, redirecting(behind.host) as found:
        behind.blob(DATA, NAME)
        settings.REGISTRY_URL, settings.REGISTRY_SOCKET = f"http://{found.host}", ""
        settings.REGISTRY_HOST = found.host
        settings.IMAGE_SOURCES_PRIVATE = [found.store]
        yield found


def read(size: int = len(DATA)) -> bytes:
    with Client() as client:
        return b"".join(client.blob(NAME, digest_of(DATA), size))


def test_a_blob_is_read_where_it_lies_and_nobody_is_told_a_token(front: Front) -> None:
    assert read() == DATA
    with Client() as client:
        assert client.small_blob(NAME, digest_of(DATA)) == DATA
    assert [method for method, _path, _headers in front.asked_store] == ["GET", "GET"]
    assert front.secrets_told == []


def test_whether_there_is_one_needs_no_look_into_the_store(front: Front) -> None:
    with Client() as client:
        assert client.has_blob(NAME, digest_of(DATA))
    assert front.asked_store == []


def test_a_store_that_gives_nothing_is_a_registry_that_is_away(front: Front) -> None:
    front.challenge = "Basic"
    with pytest.raises(RegistryAway):
        read()
    with Client() as client:
        assert client.small_blob(NAME, digest_of(DATA)) is None
    assert front.secrets_told == []


def test_a_private_store_has_to_be_allowed_and_is_named(front: Front, settings: LazySettings) -> None:
    settings.IMAGE_SOURCES_PRIVATE = []
    with pytest.raises(LeadsAway) as refusal:
        read()
    assert front.store in str(refusal.value.message)
    assert front.asked_store == []


@pytest.mark.parametrize("place", ["http://169.254.169.254/x", "file:///etc/passwd", "http://user:secret@store/x", "/"])
def test_nothing_else_is_asked(front: Front, place: str) -> None:
    front.leads_to = place
    with pytest.raises(RegistryAway):
        read()
    assert front.asked_store == []


@pytest.mark.parametrize(
    ("url", "place"),
    [("https://hub.lab/v2/a", "http://store.lab/b"), ("https://hub.lab/v2/a", ""), ("http://hub.lab/a", "ftp://x/b")],
)
def test_nothing_leads_from_tls_to_none(url: str, place: str) -> None:
    answer = httpcore.Response(307, headers=[(b"Location", place.encode())] if place else [])
    with pytest.raises(redirects.LeadsNowhere), redirects.opened(answer, url, {}):
        pass
