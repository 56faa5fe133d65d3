"""Contract: secrets reach the program and nothing else."""

import base64
import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from apps.workloads.drivers.base import LaunchRefused, Secret
from tests.drivers.kit import Kit

VALUE = "hf_Zr4wQpL81-mmTt"
KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----\n"
TOKEN = Secret("HF_TOKEN", variable="HF_TOKEN", value=VALUE)
FILE = Secret("SSH_KEY", file="id_key", value=KEY)

KNOWS_THEM = """
import hashlib, json, os, stat
path = os.environ["PLSTACK_SECRETS"] + "/id_key"
found = os.stat(path)
print(json.dumps({
    "token": hashlib.sha256(os.environ["HF_TOKEN"].encode()).hexdigest(),
    "key": hashlib.sha256(open(path, "rb").read()).hexdigest(),
    "mode": stat.S_IMODE(found.st_mode), "own": found.st_uid == os.getuid(),
}))
"""
TELLS_THEM = """
import base64, os, sys, time, urllib.parse
token = os.environ["HF_TOKEN"]
print("token", token, "in", base64.b64encode(token.encode()).decode(), urllib.parse.quote(token))
print(open(os.environ["PLSTACK_SECRETS"] + "/id_key").read(), file=sys.stderr)
for letter in token:
    sys.stdout.write(letter); sys.stdout.flush(); time.sleep(.01)
print(".")
sys.exit(3)
"""
WAITS = "import os, time\nprint('ready', flush=True)\ntime.sleep(60)"


class SecretsContract:
    def test_a_secret_is_a_variable_or_a_file_of_the_programs_own(self, kit: Kit) -> None:
        ended, text = kit.run(kit.python(KNOWS_THEM, secrets=(TOKEN, FILE)))
        assert ended.succeeded, text
        digest = {name: _digest(value) for name, value in (("token", VALUE), ("key", KEY))}
        assert json.loads(text) == {**digest, "mode": 0o400, "own": True}

    def test_the_path_of_a_file_may_stand_in_an_argument(self, kit: Kit) -> None:
        source = "import sys; print(len(open(sys.argv[1]).read()))"
        _ended, text = kit.run(kit.python(source, "/run/secrets/id_key", secrets=(FILE,)))
        assert text == f"{len(KEY)}\n"

    def test_what_the_program_prints_of_them_is_masked(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(TELLS_THEM, secrets=(TOKEN, FILE)))
        ended = kit.wait_exit(handle)
        log = kit.log(handle)
        assert b"token *** in *** ***\n" in log
        assert b"***.\n" in log
        for told in (log, ended.detail.encode()):
            for form in (VALUE, KEY.splitlines()[1], base64.b64encode(VALUE.encode()).decode()):
                assert form.encode() not in told
        assert "***" in ended.detail

    def test_a_terminal_inside_has_them_as_well(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(WAITS, secrets=(TOKEN, FILE)))
        kit.wait_output(handle, "ready")
        stream = kit.driver.exec(handle, ["sh", "-c", "printf %s $HF_TOKEN; cat $PLSTACK_SECRETS/id_key"])
        text = b""
        while data := stream.read():
            text += data
        stream.close()
        kit.driver.stop(handle, 0.0)
        assert text.decode() == VALUE + KEY
        kit.wait(handle)

    def test_no_command_line_and_no_file_of_the_platform_holds_one(self, kit: Kit, home: Path) -> None:
        handle = kit.launch(kit.python(WAITS, secrets=(TOKEN, FILE)))
        kit.wait_output(handle, "ready")
        forms = [VALUE.encode(), KEY.splitlines()[1].encode()]
        assert not [pid for pid in _pids() if any(form in _read(f"/proc/{pid}/cmdline") for form in forms)]
        holding = [path for path in _files(home / "runs" / handle.ref) if any(form in _read(path) for form in forms)]
        assert holding == []
        kit.driver.stop(handle, 0.0)
        kit.wait(handle)
        assert not [path for path in _files(home / "runs") if any(form in _read(path) for form in forms)]
        assert not list(Path("/dev/shm").glob(f"plstack-secrets-{handle.ref}"))

    def test_a_secret_that_is_withheld_starts_nothing(self, kit: Kit) -> None:
        request = kit.python("print('ran')", secrets=(replace(TOKEN, value=None),))
        with pytest.raises(LaunchRefused) as refusal:
            kit.launch(request)
        assert refusal.value.code == "secret_withheld"
        assert not kit.is_recorded(str(request.attempt_id))

    def test_what_was_launched_is_adopted_though_its_secret_is_gone_since(self, kit: Kit) -> None:
        request = kit.python(WAITS, secrets=(TOKEN,))
        handle = kit.launch(request)
        assert kit.launch(replace(request, secrets=(replace(TOKEN, value=None),))) == handle
        kit.wait_output(handle, "ready")
        kit.driver.stop(handle, 0.0)
        kit.wait(handle)

    @pytest.mark.parametrize(
        "secrets",
        [
            (replace(TOKEN, variable="A=B"),),
            (replace(TOKEN, variable=""),),
            (replace(TOKEN, file="both"),),
            (replace(FILE, file="../up"),),
            (replace(FILE, file="a/b"),),
            (replace(FILE, file=".hidden"),),
            (TOKEN, replace(TOKEN, name="OTHER")),
            (replace(TOKEN, value="a\0b"),),
        ],
    )
    def test_names_that_cannot_be_given_are_refused(self, kit: Kit, secrets: tuple[Secret, ...]) -> None:
        with pytest.raises(LaunchRefused):
            kit.launch(kit.request("true", secrets=secrets))

    def test_a_variable_that_is_set_already_is_refused(self, kit: Kit) -> None:
        with pytest.raises(LaunchRefused):
            kit.launch(kit.request("true", env={"HF_TOKEN": "x"}, secrets=(TOKEN,)))

    def test_a_request_shows_none(self, kit: Kit) -> None:
        assert VALUE not in repr(kit.request("true", secrets=(TOKEN,)))
        assert VALUE not in repr(TOKEN)


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def _pids() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit()]


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def _read(path: Path | str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""
