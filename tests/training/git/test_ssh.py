"""Repositories over SSH: a key of the secrets logs in, and only to a server whose own key somebody confirmed."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import LazySettings

from apps.audit.models import Entry as AuditEntry
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.training.git.origin import Wanted
from apps.training.git.ssh import client, host_keys
from apps.training.git.ssh.address import SshAddress, ssh_address
from apps.training.git.ssh.host_keys import HostKey, HostUnknown
from apps.training.models import GitHostKey
from tests.builders import World, actor_of, make_member, make_organisation, platform
from tests.secrets.making import colleague, make_secret
from tests.training.git.ssh_server import SshServer, new_key, ssh_server, text_of
from tests.training.git.test_fetching import fetch, origin, refused

pytestmark = [pytest.mark.django_db, pytest.mark.programs]


@pytest.fixture
def ssh(db: None, tmp_path: Path, settings: LazySettings) -> Iterator[SshServer]:
    with ssh_server(tmp_path / "ssh", key=new_key(), host_key=new_key()) as found:
        settings.EGRESS, settings.EGRESS_ALLOW = "public", [found.host]
        yield found


def key_secret(world: World, ssh: SshServer, name: str = "GIT_KEY") -> UUID:
    return make_secret(world, name=name, value=ssh.key).pk


def known() -> list[tuple[str, str]]:
    with acting(platform()):
        return list(GitHostKey.objects.values_list("host", "fingerprint"))


def test_the_first_time_asks_and_then_fetches(world: World, ssh: SshServer) -> None:
    commit = ssh.repository().commit({"a.py": b"1"})
    secret_id = key_secret(world, ssh)
    with acting(world.actor), pytest.raises(HostUnknown) as caught:
        fetch(world, ssh.url(), secret_id=secret_id)
    assert (caught.value.key.fingerprint, caught.value.key.words) == (ssh.fingerprint, "Ed25519")
    assert ssh.fingerprint in caught.value.sentences
    assert list(caught.value.fields) == ["host_key"]
    assert (ssh.tried, ssh.asked, known()) == ([], [], [])
    folder = fetch(world, ssh.url(), secret_id=secret_id, host_key=f" {ssh.fingerprint} ")
    found = origin(folder)
    assert (found.commit, found.address, found.username) == (commit, ssh.url(), "")
    assert known() == [(f"[localhost]:{ssh.port}", ssh.fingerprint)]
    assert set(ssh.tried) == {"git"}
    with acting(platform()):
        confirmed = AuditEntry.objects.get(action="git_host.confirmed")
        assert confirmed.after == {"fingerprint": ssh.fingerprint}
        assert all("PRIVATE" not in str(each.__dict__) for each in AuditEntry.objects.all())
    assert origin(fetch(world, ssh.url(), secret_id=secret_id, ref=commit[:7])).commit == commit


def test_a_fingerprint_that_it_does_not_show(world: World, ssh: SshServer) -> None:
    ssh.repository().commit({"a.py": b"1"})
    field, words = refused(world, ssh.url(), secret_id=key_secret(world, ssh), host_key="SHA256:other")
    assert (field, "another key than the one that was confirmed" in words) == ("host_key", True)
    assert (ssh.tried, known()) == ([], [])


def test_a_server_whose_key_changed_is_told_nothing(world: World, ssh: SshServer) -> None:
    ssh.repository().commit({"a.py": b"1"})
    secret_id = key_secret(world, ssh)
    address = ssh_address(ssh.url())
    assert address is not None
    other = HostKey(new_key().export_public_key().decode().strip())
    with acting(world.actor):
        host_keys.confirm(world.actor, address, other, other.fingerprint)
    for confirming in ("", ssh.fingerprint):
        field, words = refused(world, ssh.url(), secret_id=secret_id, host_key=confirming)
        assert (field, "another key than the one that your organisation knows" in words) == ("address", True)
    assert (ssh.tried, ssh.asked) == ([], [])
    assert known() == [(address.known_name, other.fingerprint)]
    with acting(world.actor):
        row = host_keys.known_hosts(world.actor).get()
        host_keys.forget(world.actor, row.pk)
    assert fetch(world, ssh.url(), secret_id=secret_id, host_key=ssh.fingerprint)


def test_a_key_that_is_not_let_in(world: World, ssh: SshServer) -> None:
    ssh.repository().commit({"a.py": b"1"})
    stranger = make_secret(world, name="STRANGER", value=text_of(new_key())).pk
    field, words = refused(world, ssh.url(), secret_id=stranger, host_key=ssh.fingerprint)
    assert (field, "does not accept this key" in words, ssh.host in words) == ("secret", True, True)


def test_what_is_not_there_over_ssh(world: World, ssh: SshServer) -> None:
    secret_id = key_secret(world, ssh)
    field, words = refused(world, ssh.url("no.git"), secret_id=secret_id, host_key=ssh.fingerprint)
    assert (field, "no repository at this address" in words) == ("address", True)
    ssh.repository().commit({"a.py": b"1"})
    assert refused(world, ssh.url(), secret_id=secret_id, ref="nowhere")[0] == "ref"


def test_without_a_secret_or_with_one_that_is_no_key(world: World, ssh: SshServer) -> None:
    field, words = refused(world, ssh.url())
    assert (field, "choose the secret that has it" in words) == ("secret", True)
    token = make_secret(world, name="TOKEN", value="glpat-123").pk
    assert "no private SSH key" in refused(world, ssh.url(), secret_id=token)[1]
    locked = new_key().export_private_key("pkcs8-pem", passphrase="secret").decode()
    sealed = make_secret(world, name="LOCKED", value=locked).pk
    assert "has a passphrase" in refused(world, ssh.url(), secret_id=sealed)[1]
    assert "not yours to use" in refused(world, ssh.url(), secret_id=UUID(int=5))[1]
    assert ssh.tried == []


@pytest.mark.parametrize(
    ("egress", "allow", "words"),
    [
        ("off", [], "lets nothing out"),
        ("example.org", [], "not among the hosts"),
        ("public", [], "ports 22 and 443 only"),
        ("public", ["other:22"], "ports 22 and 443 only"),
    ],
)
def test_what_may_not_be_reached(
    world: World, ssh: SshServer, settings: LazySettings, egress: str, allow: list[str], words: str
) -> None:
    settings.EGRESS, settings.EGRESS_ALLOW = egress, allow
    field, said = refused(world, ssh.url(), secret_id=key_secret(world, ssh))
    assert (field, words in said) == ("address", True)


def test_private_hosts_on_the_usual_port(world: World, ssh: SshServer) -> None:
    secret_id = key_secret(world, ssh)
    assert "private, local or reserved" in refused(world, "git@localhost:a.git", secret_id=secret_id)[1]
    assert "There is no host" in refused(world, "git@nowhere.invalid:a.git", secret_id=secret_id)[1]


def test_nobody_answers(world: World, ssh: SshServer, settings: LazySettings) -> None:
    settings.EGRESS_ALLOW = ["localhost:1"]
    field, words = refused(world, "ssh://git@localhost:1/a.git", secret_id=key_secret(world, ssh))
    assert (field, "does not answer" in words) == ("address", True)


def test_without_ssh(world: World, ssh: SshServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "is_installed", lambda: False)
    assert "ssh is not installed" in refused(world, ssh.url(), secret_id=key_secret(world, ssh))[1]


def test_each_organisation_confirms_for_itself(world: World, ssh: SshServer) -> None:
    ssh.repository().commit({"a.py": b"1"})
    fetch(world, ssh.url(), secret_id=key_secret(world, ssh), host_key=ssh.fingerprint)
    with acting(platform()):
        pk = GitHostKey.objects.get().pk
        organisation = make_organisation()
        carol = make_member(organisation, "carol")
    address = ssh_address(ssh.url())
    assert address is not None
    with acting(actor_of(carol, organisation)) as actor:
        assert host_keys.known_key(actor, address) is None
        with pytest.raises(NotFound):
            host_keys.forget(actor, pk)


ADDRESS = SshAddress("git", "example.org", 22)


def test_who_forgets_a_server(world: World, db: None) -> None:
    key = HostKey(new_key().export_public_key().decode().strip())
    with acting(world.actor):
        host_keys.confirm(world.actor, ADDRESS, key, key.fingerprint)
        pk = host_keys.known_hosts(world.actor).get().pk
    bob, ada = colleague(world), colleague(world, "ada", Role.ADMIN)
    with acting(actor_of(bob, world.organisation)) as actor, pytest.raises(Denied):
        host_keys.forget(actor, pk)
    assert known() == [("example.org", key.fingerprint)]
    with acting(actor_of(ada, world.organisation)) as actor:
        host_keys.forget(actor, pk)
    assert known() == []
    with acting(platform()):
        assert AuditEntry.objects.get(action="git_host.forgotten").before == {"fingerprint": key.fingerprint}


def test_a_colleague_was_faster(world: World) -> None:
    first, second = (HostKey(new_key().export_public_key().decode().strip()) for _each in range(2))
    with acting(world.actor):
        assert host_keys.confirm(world.actor, ADDRESS, first, first.fingerprint) == first
        assert host_keys.confirm(world.actor, ADDRESS, second, second.fingerprint) == first


def test_the_most_servers(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_keys, "MOST", 0)
    key = HostKey(new_key().export_public_key().decode().strip())
    with acting(world.actor), pytest.raises(Conflict):
        host_keys.confirm(world.actor, ADDRESS, key, key.fingerprint)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("git@github.com:a/b.git", SshAddress("git", "github.com", 22)),
        ("me@GitHub.com:b.git", SshAddress("me", "github.com", 22)),
        ("ssh://git@example.org:2222/a/b.git", SshAddress("git", "example.org", 2222)),
        ("ssh://example.org/a.git", SshAddress("git", "example.org", 22)),
        ("https://example.org/a.git", None),
        ("/etc/passwd", None),
    ],
)
def test_addresses(text: str, found: SshAddress | None) -> None:
    assert ssh_address(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "git@:a.git",
        "git@example.org:",
        "git@example.org:-oProxyCommand=id",
        "ssh://-oProxyCommand=id/a",
        "ssh://git@-x/a b",
        "ssh://git@example.org:0/a",
        "ssh://git@example.org:99999/a",
        "ssh://git:pw@example.org/a",
        "ssh://git@example.org",
        "git@example.org:a'b",
    ],
)
def test_what_no_ssh_is_asked(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        Wanted(text).cleaned()
    assert list(caught.value.fields) == ["address"]
