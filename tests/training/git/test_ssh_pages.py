"""The form asks to confirm a server's key; the page and the API list the known servers, and forget them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.common.scoping import acting
from apps.storage.models import Folder
from apps.tenants.choices import Role
from apps.training.git.ssh import host_keys
from apps.training.git.ssh.address import SshAddress
from apps.training.git.ssh.host_keys import HostKey
from apps.training.models import GitHostKey
from tests.builders import World, make_member, platform, signed_in
from tests.secrets.making import make_secret
from tests.training.git.ssh_server import SshServer, new_key, ssh_server
from tests.training.kit import text

pytestmark = [pytest.mark.django_db, pytest.mark.programs]
FETCH, HOSTS, API = "/training/code/git/", "/training/code/git/hosts/", "/api/v1/training/code/git/"


@pytest.fixture
def ssh(db: None, tmp_path: Path, settings: LazySettings) -> Iterator[SshServer]:
    with ssh_server(tmp_path / "ssh", key=new_key(), host_key=new_key()) as found:
        settings.EGRESS, settings.EGRESS_ALLOW = "public", [found.host]
        found.repository().commit({"src/main.py": b"print(1)\n"}, subject="Over SSH")
        yield found


@pytest.fixture
def host(world: World) -> GitHostKey:
    """Confirmed by Alice."""
    key = HostKey(new_key().export_public_key().decode().strip())
    with acting(world.actor):
        host_keys.confirm(world.actor, SshAddress("git", "git.example.org", 22), key, key.fingerprint)
        return host_keys.known_hosts(world.actor).get()


def typed(world: World, ssh: SshServer, **changes: str) -> dict[str, str]:
    secret = make_secret(world, name="GIT_KEY", value=ssh.key)
    values = {"git-address": ssh.url(), "git-ref": "", "git-path": "", "git-username": "", "git-secret": str(secret.pk)}
    return {**values, "script": "train.py", **changes}


def test_the_box_asks_for_the_key_and_keeps_what_was_typed(world: World, alice: Client, ssh: SshServer) -> None:
    form = typed(world, ssh, **{"git-ref": "main"})
    answer = alice.post(FETCH, form)
    page = text(answer)
    assert answer.status_code == 422
    for shown in (f"Is this {ssh.host}?", ssh.fingerprint, "Confirm the key and fetch", ssh.url(), 'value="main"'):
        assert shown in page
    assert "PRIVATE KEY" not in page
    answer = alice.post(FETCH, {**form, "git-host_key": ssh.fingerprint})
    page = text(answer)
    assert (answer.status_code, "Over SSH" in page, "Confirm the key" in page) == (200, True, False)


def test_the_api_confirms_with_the_fingerprint(world: World, alice: Client, ssh: SshServer) -> None:
    secret = make_secret(world, name="GIT_KEY", value=ssh.key)
    body = {"address": ssh.url(), "secret": str(secret.pk)}
    answer = alice.post(API, body, content_type="application/json")
    said = answer.json()
    assert (answer.status_code, said["code"], list(said["fields"])) == (400, "git_host_unknown", ["host_key"])
    assert ssh.fingerprint in said["detail"]
    answer = alice.post(API, {**body, "host_key": ssh.fingerprint}, content_type="application/json")
    assert (answer.status_code, answer.json()["git"]["subject"]) == (201, "Over SSH")
    with acting(platform()):
        assert Folder.objects.count() == 1


def test_known_servers_are_listed_searched_and_forgotten(world: World, alice: Client, host: GitHostKey) -> None:
    page = text(alice.get(HOSTS))
    assert ("git.example.org" in page, host.fingerprint in page, "Forget…" in page) == (True, True, True)
    assert "git.example.org" in text(alice.get(HOSTS, {"q": "EXAMPLE"}))
    assert "No server is called so" in text(alice.get(HOSTS, {"q": "gitlab"}))
    page = text(alice.post(f"{HOSTS}{host.pk}/forget/", follow=True))
    assert ("git.example.org is forgotten" in page, "No SSH server is known yet" in page) == (True, True)


def test_a_colleague_sees_it_and_does_not_forget_it(world: World, host: GitHostKey) -> None:
    with acting(platform()):
        bob = make_member(world.organisation, "bob")
        ada = make_member(world.organisation, "ada", Role.ADMIN)
    page = text(signed_in(bob).get(HOSTS))
    assert ("git.example.org" in page, "Forget…" in page) == (True, False)
    assert "Your role does not allow this" in text(signed_in(bob).post(f"{HOSTS}{host.pk}/forget/", follow=True))
    assert signed_in(bob).delete(f"{API}hosts/{host.pk}/").status_code == 403
    assert "Forget…" in text(signed_in(ada).get(HOSTS))
    assert signed_in(ada).delete(f"{API}hosts/{host.pk}/").status_code == 204
    assert signed_in(ada).delete(f"{API}hosts/{host.pk}/").status_code == 404


def test_the_api_lists_them(world: World, alice: Client, charlie: Client, host: GitHostKey) -> None:
    (row,) = alice.get(f"{API}hosts/").json()["results"]
    assert (row["host"], row["fingerprint"], row["confirmed_by"]) == (
        "git.example.org",
        host.fingerprint,
        world.alice.username,
    )
    assert charlie.get(f"{API}hosts/").json()["results"] == []
