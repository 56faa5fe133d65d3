"""The virtual environment: filled by uv from where pip is set to fetch, whole after a cut, once where two begin."""

import base64
import fcntl
import hashlib
import http.server
import os
import signal
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from plstack.launch import environment, keys
from plstack.launch.layout import ROOT, Layout
from plstack.launch.pip_settings import uv_environment
from plstack.launch.report import Reporter, Step, Trouble

HOME = {"HOME": "/nonexistent", "PATH": "/usr/bin"}
ENSURE = """
import sys
from pathlib import Path
from dataclasses import replace
from plstack.launch import environment
from plstack.launch.layout import Layout
from plstack.launch.report import Reporter, Step
layout = Layout.from_environ({"PLSTACK_HOME": sys.argv[1], "PLSTACK_VENV": sys.argv[2]})
layout.home.mkdir()
step = Step(Reporter(1), "Python packages")
environment.ensure(replace(layout, root=Path(sys.argv[3])), "quickstart", step)
print(step.outcome)
"""


def wheel(folder: Path) -> str:
    """A package with one module, `tiny`; the hash of its file."""
    files = {
        "tiny.py": b"WORD = 'tiny'\n",
        "tiny-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "tiny-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    files["tiny-1.0.dist-info/RECORD"] = "\n".join([*rows, "tiny-1.0.dist-info/RECORD,,", ""]).encode()
    path = folder / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@pytest.fixture
def copy(layout: Layout, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A copy of the platform that needs nothing but `tiny`, which pip is told to take from a folder."""
    shelf, locks = tmp_path / "shelf", tmp_path / "deploy" / "locks"
    shelf.mkdir()
    locks.mkdir(parents=True)
    (locks / "quickstart.txt").write_text(f"tiny==1.0 \\\n    --hash=sha256:{wheel(shelf)}\n")
    (locks / "dev.txt").write_text("")
    (locks / "installer.txt").write_text("")
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    told = f"[global]\nno-index = true\nfind-links =\n    {shelf}\n    {tmp_path / 'nothing'}\n"
    (tmp_path / "pip.conf").write_text(told)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return replace(layout, root=tmp_path, venv=home / "venv")


@pytest.fixture(autouse=True)
def installer(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if pip had brought itself and uv: no test asks an index."""
    monkeypatch.setattr(environment, "_ensure_installer", lambda copy, lock: give_installer(copy))


def give_installer(copy: Layout) -> None:
    uv = copy.venv / "bin" / "uv"
    if not uv.exists():
        uv.symlink_to(Path(sys.prefix) / "bin" / "uv")
    (site(copy) / "installer.pth").write_text(f"{site(replace(copy, venv=Path(sys.prefix)))}\n")
    keys.write(environment._marker(copy, "installer"), environment._key(copy, "installer"))


def site(copy: Layout) -> Path:
    (found,) = copy.venv.glob("lib/python3*/site-packages")
    return found


def ensure(copy: Layout) -> Step:
    step = Step(Reporter(1), "Python packages")
    environment.ensure(copy, "quickstart", step)
    return step


def test_packages_come_from_where_pip_is_told(copy: Layout) -> None:
    ensure(copy)
    assert (site(copy) / "tiny.py").exists()
    assert (site(copy) / "tiny-1.0.dist-info" / "INSTALLER").read_text().strip() == "uv"
    assert environment.is_ready(copy, "quickstart")
    assert ensure(copy).outcome == "unchanged"


def test_packages_come_from_the_index_that_pip_is_set_to(copy: Layout, tmp_path: Path) -> None:
    (tmp_path / "shelf" / "simple" / "tiny").mkdir(parents=True)
    page = '<a href="/tiny-1.0-py3-none-any.whl">tiny-1.0-py3-none-any.whl</a>'
    (tmp_path / "shelf" / "simple" / "tiny" / "index.html").write_text(page)
    asked: list[str] = []

    class Index(http.server.SimpleHTTPRequestHandler):
        def log_request(self, *args: object) -> None:
            asked.append(f"{self.headers['User-Agent'].partition('/')[0]} {self.path}")

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Index, directory=str(tmp_path / "shelf")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/simple"
    (tmp_path / "pip.conf").write_text(f"[global]\nindex-url = {address}\n")
    try:
        ensure(copy)
    finally:
        server.shutdown()
        server.server_close()
    assert {"uv /simple/tiny/", "uv /tiny-1.0-py3-none-any.whl"} <= set(asked)
    assert (site(copy) / "tiny.py").exists()


def test_another_file_than_the_locks_is_refused(copy: Layout) -> None:
    lock = environment.lock_file(copy, "quickstart")
    lock.write_text(lock.read_text()[:-9] + "00000000\n")
    with pytest.raises(Trouble, match="could not be installed"):
        ensure(copy)
    assert not (site(copy) / "tiny.py").exists()
    assert not environment.is_ready(copy, "quickstart")


def test_what_a_cut_off_install_left_is_made_anew(copy: Layout) -> None:
    ensure(copy)
    # Killed while it linked files: the package looks installed.
    (copy.venv / ".plstack-unfinished").touch()
    (site(copy) / "tiny.py").unlink()
    assert not environment.is_ready(copy, "quickstart")
    ensure(copy)
    assert (site(copy) / "tiny.py").exists()
    assert environment.is_ready(copy, "quickstart")


def test_what_cannot_be_fetched_leaves_what_is_there(copy: Layout) -> None:
    ensure(copy)
    environment.lock_file(copy, "node").write_text("absent==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n")
    with pytest.raises(Trouble, match="package index cannot be reached"):
        environment.ensure(copy, "node", Step(Reporter(1), "Node.js"))
    assert environment.is_ready(copy, "quickstart")


def test_where_uv_does_not_run_pip_does(copy: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    environment._create(copy)
    uv = copy.venv / "bin" / "uv"
    uv.write_text("#!/bin/sh\necho 'error: not on this machine'; exit 2\n")
    uv.chmod(0o755)
    ensure(copy)
    assert "uv could not install them (error: not on this machine), pip tries" in capsys.readouterr().out
    assert (site(copy) / "tiny-1.0.dist-info" / "INSTALLER").read_text().strip() == "pip"
    uv.write_bytes(b"\x7fELF for another machine")
    environment._marker(copy, "quickstart").unlink()
    ensure(copy)
    assert "uv does not run here: Exec format error" in capsys.readouterr().out


def test_three_homes_on_one_environment_fill_it_once(copy: Layout) -> None:
    environment._create(copy)
    give_installer(copy)
    calls = [[copy.home / str(number), copy.venv, copy.root] for number in range(3)]
    racers = [
        subprocess.Popen([sys.executable, "-c", ENSURE, *call], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for call in calls
    ]
    said = [racer.communicate()[0] for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0, 0]
    assert sum("packages to install" in text for text in said) == 1
    assert (site(copy) / "tiny.py").exists()


def test_who_is_killed_leaves_the_lock_to_its_child(tmp_path: Path) -> None:
    code = """
import subprocess, sys
from pathlib import Path
from plstack.launch.files import locked
with locked(Path(sys.argv[1])) as lock:
    child = subprocess.Popen(["sleep", "100"], pass_fds=[lock], stdout=subprocess.DEVNULL)
    print(child.pid, flush=True)
    child.wait()
"""
    path = tmp_path / "lock"
    parent = subprocess.Popen([sys.executable, "-c", code, path], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    with path.open() as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.kill(child, signal.SIGKILL)
        fcntl.flock(file, fcntl.LOCK_EX)


def test_an_environment_of_another_python_is_made_anew(copy: Layout) -> None:
    (copy.venv / "bin").mkdir(parents=True)
    (copy.venv / "pyvenv.cfg").write_text("home = /usr/bin\n")
    copy.python.write_text("#!/bin/sh\necho 3.9\n")
    copy.python.chmod(0o755)
    (copy.venv / "lib64").symlink_to(copy.home)
    (copy.venv / environment.LOCK).touch()
    environment._create(copy)
    assert environment._is_of_this_python(copy)
    assert (copy.venv / environment.LOCK).exists()
    assert copy.home.is_dir()


def test_a_place_where_none_can_be_made_is_named(copy: Layout) -> None:
    (copy.home / "file").touch()
    with pytest.raises(Trouble, match="file/venv: Not a directory"):
        ensure(replace(copy, venv=copy.home / "file" / "venv"))


INDEX = "index-url"


def test_what_pip_is_told_uv_hears() -> None:
    listed = f"""\
:env:.{INDEX}='https://me:secret@one.example/packages'
:env:.timeout='90'
global.cert='/etc/ssl/own.pem'
global.default-timeout='15'
global.disable-pip-version-check='1'
global.extra-{INDEX}='\\nhttps://two.example/packages\\nhttps://three.example/packages'
global.{INDEX}='https://four.example/packages'
global.proxy='http://proxy.example:3128'
install.find-links="/nowhere /tmp https://five.example/it's"
install.trusted-host='two.example three.example'
WARNING: this is nothing = at all
"""
    env = uv_environment(listed, {**HOME, "UV_HTTP_TIMEOUT": "7", "SSL_CERT_FILE": "/other.pem"})
    assert {name: value for name, value in env.items() if name not in HOME} == {
        "UV_DEFAULT_INDEX": "https://me:secret@one.example/packages",
        "UV_INDEX": "https://two.example/packages https://three.example/packages",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/tmp,https://five.example/it's",
        "UV_INSECURE_HOST": "two.example three.example",
        "UV_HTTP_TIMEOUT": "7",
        "UV_SYSTEM_CERTS": "1",
        "SSL_CERT_FILE": "/etc/ssl/own.pem",
        "HTTP_PROXY": "http://proxy.example:3128",
        "HTTPS_PROXY": "http://proxy.example:3128",
    } | ({} if os.geteuid() == 0 else {"UV_NO_CACHE": "1"})


def test_no_cache_is_kept_in_the_home_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = {"HOME": str(tmp_path)}
    assert "UV_NO_CACHE" not in uv_environment("", mine)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert uv_environment("", mine)["UV_NO_CACHE"] == "1"
    assert "UV_NO_CACHE" not in uv_environment("", mine | {"UV_CACHE_DIR": "/elsewhere"})


def test_pip_and_uv_are_locked_in_the_versions_that_checks_use() -> None:
    pins = {name: dict(_pins(ROOT / "deploy" / "locks" / f"{name}.txt")) for name in ("installer", "dev")}
    assert set(pins["installer"]) == {"pip", "uv"}
    assert pins["installer"]["uv"] == pins["dev"]["uv"]


def _pins(lock: Path) -> list[tuple[str, str]]:
    rows = [line.split(" ")[0].partition("==") for line in lock.read_text().splitlines() if line[:1].isalnum()]
    return [(name, version) for name, _equals, version in rows]
