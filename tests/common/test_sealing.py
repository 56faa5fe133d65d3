"""Secrets at rest: they open in their place, under their key, and nowhere else."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import LazySettings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from apps.common import sealing
from apps.common.sealing import Unreadable, purpose_for, seal, unseal

HERE = purpose_for("table", 1, "field")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: LazySettings) -> Path:
    settings.PLSTACK_HOME = tmp_path
    settings.SEALING_KEYS = []
    return tmp_path


@given(st.binary(max_size=400))
def test_what_was_sealed_comes_back(plaintext: bytes) -> None:
    sealed = seal(plaintext, purpose=HERE)
    assert unseal(memoryview(sealed), purpose=HERE) == plaintext  # type: ignore[arg-type]
    assert len(plaintext) < 8 or plaintext not in sealed


def test_twice_the_same_looks_different() -> None:
    assert seal(b"x", purpose=HERE) != seal(b"x", purpose=HERE)


@pytest.mark.parametrize("elsewhere", [purpose_for("table", 2, "field"), purpose_for("table", 1, "other"), ""])
def test_it_does_not_open_in_another_place(elsewhere: str) -> None:
    sealed = seal(b"secret", purpose=HERE)
    with pytest.raises(Unreadable):
        unseal(sealed, purpose=elsewhere)


def test_every_changed_byte_is_noticed() -> None:
    sealed = seal(b"secret", purpose=HERE)
    for position in range(len(sealed)):
        broken = bytearray(sealed)
        broken[position] ^= 1
        with pytest.raises(Unreadable):
            unseal(bytes(broken), purpose=HERE)


@pytest.mark.parametrize(
    "rubbish", [b"", b"\x01", b"\x01\x00\x01", b"\x01\x00\x01" + b"0" * 12, b"\x01\x00\x01" + b"0" * 20]
)
def test_rubbish_is_refused(rubbish: bytes) -> None:
    seal(b"a key is there", purpose=HERE)
    with pytest.raises(Unreadable):
        unseal(rubbish, purpose=HERE)


def test_the_key_file_is_made_once_and_private(home: Path) -> None:
    seal(b"x", purpose=HERE)
    path = home / "secrets" / "sealing"
    assert path.stat().st_mode & 0o777 == 0o600
    first = path.read_text()
    seal(b"y", purpose=HERE)
    assert path.read_text() == first


def test_old_values_open_after_a_rotation_and_new_ones_are_under_the_new_key() -> None:
    old = seal(b"old", purpose=HERE)
    assert sealing.rotate() == 2
    new = seal(b"new", purpose=HERE)
    assert (old[1:3], new[1:3]) == (b"\x00\x01", b"\x00\x02")
    assert unseal(old, purpose=HERE) == b"old"
    assert unseal(new, purpose=HERE) == b"new"


def test_a_key_that_another_process_added_is_found(home: Path) -> None:
    seal(b"x", purpose=HERE)
    with (home / "secrets" / "sealing").open("a") as file:
        file.write("7:" + "ab" * 32 + "\n")
    elsewhere = sealing._read.__wrapped__((), home / "secrets" / "sealing")
    assert sorted(elsewhere) == [1, 7]
    nonce = b"0" * 12
    head = b"\x01\x00\x07"
    sealed = head + nonce + AESGCM(elsewhere[7]).encrypt(nonce, b"theirs", head + HERE.encode())
    assert unseal(sealed, purpose=HERE) == b"theirs"


def test_another_installation_cannot_read_it(home: Path, settings: LazySettings) -> None:
    sealed = seal(b"secret", purpose=HERE)
    settings.PLSTACK_HOME = home / "other"
    with pytest.raises(Unreadable):
        unseal(sealed, purpose=HERE)


def test_keys_may_come_from_the_environment(settings: LazySettings) -> None:
    settings.SEALING_KEYS = ["1:" + "11" * 32, "2:" + "22" * 32]
    sealed = seal(b"x", purpose=HERE)
    settings.SEALING_KEYS = ["2:" + "22" * 32]
    assert unseal(sealed, purpose=HERE) == b"x"


@pytest.mark.parametrize("keys", [["nonsense"], ["1:abcd"], ["0:" + "11" * 32], ["x:" + "11" * 32]])
def test_keys_that_are_none_are_refused_in_words(settings: LazySettings, keys: list[str]) -> None:
    settings.SEALING_KEYS = keys
    with pytest.raises(ImproperlyConfigured, match="Sealing keys"):
        seal(b"x", purpose=HERE)


def test_the_command_adds_a_key(capsys: pytest.CaptureFixture[str], settings: LazySettings) -> None:
    seal(b"x", purpose=HERE)
    call_command("rotate_sealing_key")
    assert "key 2" in capsys.readouterr().out
    settings.SEALING_KEYS = ["1:" + "11" * 32]
    with pytest.raises(CommandError, match="PLSTACK_SEALING_KEYS"):
        call_command("rotate_sealing_key")
