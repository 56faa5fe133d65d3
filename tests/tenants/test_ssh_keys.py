"""SSH keys: which are taken, which are refused and in what words, and whom they let in."""

import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from apps.audit.models import Entry
from apps.common.errors import Invalid, NotFound
from apps.common.scoping import acting
from apps.tenants import ssh_keys
from apps.tenants.actors import personal_actor
from apps.tenants.models import SshKey, User
from apps.tenants.ssh_format import PrivateKeyPasted, parse
from tests.builders import make_member, make_organisation, platform, signed_in

KEYS = "/api/v1/me/ssh-keys/"
# A published example of a key on a security key (OpenSSH's regress/unittests, public part only).
SK = (
    "sk-ssh-ed25519@openssh.com "
    "AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAICFo/k5LU8863u66YC9eUO2170QduohPURkQnbLa/dczAAAABHNzaDo="
)


def public(key: object) -> str:
    line: bytes = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)  # type: ignore[attr-defined]
    return line.decode()


def ed() -> str:
    return public(ed25519.Ed25519PrivateKey.generate())


@pytest.fixture
def alice() -> User:
    with acting(platform()):
        return make_member(make_organisation(), "alice")


def add(user: User, text: str, name: str = "") -> SshKey:
    actor = personal_actor(user)
    with acting(actor):
        return ssh_keys.add(actor, name=name, public_key=text)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (ed(), "Ed25519"),
        (public(ec.generate_private_key(ec.SECP256R1())), "ECDSA P-256"),
        (public(ec.generate_private_key(ec.SECP384R1())), "ECDSA P-384"),
        (public(ec.generate_private_key(ec.SECP521R1())), "ECDSA P-521"),
        (public(rsa.generate_private_key(65537, 3072)), "RSA 3072"),
        (SK, "Ed25519-SK"),
    ],
    ids=["ed25519", "p256", "p384", "p521", "rsa", "sk"],
)
def test_strong_kinds_are_taken(line: str, words: str) -> None:
    parsed = parse(f"  {line} me@laptop \n")
    assert (parsed.line, parsed.comment, parsed.words) == (line, "me@laptop", words)


def test_the_fingerprint_is_the_one_that_ssh_keygen_prints(tmp_path: Path) -> None:
    line = ed()
    path = tmp_path / "key.pub"
    path.write_text(line + "\n")
    try:
        told = subprocess.run(["ssh-keygen", "-l", "-f", path], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip("no ssh-keygen on this machine")
    assert parse(line).fingerprint == told.split()[1]


PRIVATE = (
    ed25519.Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
)
DSA = public(dsa.generate_private_key(1024))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a public key"),
        ("hello", "not a public key"),
        ("hello world", "not accepted"),
        (PRIVATE, "private key"),
        ("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none", "private key"),
        ("---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----", "PuTTY"),
        (DSA, "DSA"),
        (public(rsa.generate_private_key(65537, 2048)), "3072"),
        (ed() + "\n" + ed(), "one key"),
        ('command="ls" ' + ed(), "without options"),
        (ed()[:-8], "damaged"),
        (ed().replace("ssh-ed25519", "ssh-rsa"), "damaged"),
        ("ssh-ed25519 AAAA!!!", "damaged"),
        ("ssh-ed25519 " + "A" * 9000, "too long"),
        ("ssh-ed25519-cert-v01@openssh.com AAAA", "not accepted"),
    ],
    ids=[
        *("nothing", "word", "words", "private", "putty", "putty-public", "dsa", "short-rsa", "two", "options"),
        *("cut", "other-kind", "no-base64", "long", "certificate"),
    ],
)
def test_everything_else_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse(text)
    assert words in str(refused.value.fields["public_key"])


def test_a_private_key_is_never_in_the_error() -> None:
    with pytest.raises(PrivateKeyPasted) as refused:
        parse(PRIVATE)
    assert PRIVATE.splitlines()[1] not in f"{refused.value} {refused.value.hint} {refused.value.fields}"


@pytest.mark.django_db
def test_a_key_is_kept_named_and_logged(alice: User) -> None:
    key = add(alice, ed() + " me@laptop")
    assert (key.name, key.created_at is not None) == ("me@laptop", True)
    assert ssh_keys.keys_of(alice) == [key]
    assert ssh_keys.users_with(key.fingerprint) == [alice]
    with acting(platform()):
        assert list(Entry.objects.filter(target_id=str(key.pk)).values_list("action", flat=True)) == ["ssh_key.added"]


@pytest.mark.django_db
def test_twice_the_same_is_refused_but_two_people_may_hold_one(alice: User) -> None:
    line = ed()
    key = add(alice, line)
    with pytest.raises(Invalid, match="already"):
        add(alice, line + " other comment")
    with acting(platform()):
        bob = make_member(make_organisation(), "bob")
    add(bob, line)
    assert ssh_keys.users_with(key.fingerprint) == [alice, bob]


@pytest.mark.django_db
def test_a_disabled_account_is_let_in_by_no_key(alice: User) -> None:
    key = add(alice, ed())
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert ssh_keys.users_with(key.fingerprint) == []
    assert ssh_keys.keys_of(alice) == []


@pytest.mark.django_db
def test_the_use_is_noted_once_a_minute(alice: User) -> None:
    key = add(alice, ed())
    ssh_keys.note_use(alice.pk, key.fingerprint)
    key.refresh_from_db()
    first = key.last_used_at
    ssh_keys.note_use(alice.pk, key.fingerprint)
    key.refresh_from_db()
    assert first is not None
    assert key.last_used_at == first


@pytest.mark.django_db
def test_only_ones_own_is_removed(alice: User) -> None:
    key = add(alice, ed())
    with acting(platform()):
        bob = make_member(make_organisation(), "bob")
    actor = personal_actor(bob)
    with acting(actor), pytest.raises(NotFound):
        ssh_keys.remove(actor, key_id=key.pk)
    assert signed_in(bob).delete(f"{KEYS}{key.pk}/").status_code == 404
    assert signed_in(alice).delete(f"{KEYS}{key.pk}/").status_code == 204
    assert ssh_keys.users_with(key.fingerprint) == []


@pytest.mark.django_db
def test_the_api_adds_and_lists(alice: User) -> None:
    client, line = signed_in(alice), ed()
    made = client.post(KEYS, {"public_key": line}, content_type="application/json")
    assert made.status_code == 201
    assert [row["fingerprint"] for row in client.get(KEYS).json()["results"]] == [made.json()["fingerprint"]]
    refused = client.post(KEYS, {"public_key": PRIVATE}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (400, "private_key")
    assert SshKey.objects.count() == 1


@pytest.mark.django_db
def test_the_page_adds_lists_and_removes(alice: User) -> None:
    client, page = signed_in(alice), "/account/ssh-keys/"
    assert "No SSH key yet" in client.get(page).content.decode()
    client.post(page, {"public_key": ed(), "name": "laptop"})
    key = SshKey.objects.get()
    assert key.fingerprint in client.get(page).content.decode()
    client.post(f"{page}{key.pk}/remove/")
    assert SshKey.objects.count() == 0


@pytest.mark.django_db
def test_the_page_refuses_a_private_key_and_does_not_send_it_back(alice: User) -> None:
    answer = signed_in(alice).post("/account/ssh-keys/", {"public_key": PRIVATE, "name": "laptop"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "must never leave your machine" in page
    assert PRIVATE.splitlines()[1] not in page
    assert "laptop" in page
