"""A whole copy of the platform for the browser and the chaos suites, started as the README says."""

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
ADMIN, PASSWORD = "admin", "correct-horse-9"
START_TIMEOUT_S = 600


@dataclass(slots=True)
class Stack:
    """One running copy: its own home, port, Postgres and Redis; the suite's Python environment."""

    home: Path
    port: int
    process: subprocess.Popen[bytes]
    log: Path
    gateway_port: int = 0
    ssh_port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def pids(self) -> dict[str, int]:
        """The platform's processes by the name that each gives itself."""
        found: dict[str, int] = {}
        for pid in _descendants(self.process.pid):
            try:
                name = Path(f"/proc/{pid}/comm").read_text().strip()
            except OSError:
                continue
            found.setdefault(name, pid)
        return found

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)


def _descendants(pid: int) -> Iterator[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in map(int, children):
        yield child
        yield from _descendants(child)


def start(home: Path, port: int | None = None) -> Stack:
    """Start a copy and wait for its sign-in page. Its home may be one that was stopped or killed before."""
    port = port or free_port()
    gateway_port, ssh_port = free_port(), free_port()
    home.mkdir(parents=True, exist_ok=True)
    log = home / "launch.log"
    outer = {"DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE"}
    env = {name: value for name, value in os.environ.items() if name not in outer}
    env |= {
        "PLSTACK_HOME": str(home),
        "PLSTACK_PORT": str(port),
        "PLSTACK_GATEWAY_PORT": str(gateway_port),
        "PLSTACK_SSH_PORT": str(ssh_port),
        "PLSTACK_VENV": env.get("PLSTACK_VENV") or str(Path(sys.prefix)),
        "PLSTACK_ADMIN_PASSWORD": PASSWORD,
    }
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "plstack.launch", "run"], cwd=ROOT, env=env, stdout=output, stderr=output
        )
    stack = Stack(home, port, process, log, gateway_port, ssh_port)
    try:
        wait_for(lambda: _answers(stack), START_TIMEOUT_S, "no sign-in page")
    except AssertionError as error:
        stack.stop()  # nobody else knows of it
        raise AssertionError(f"{error}; {log} says:\n{log.read_text()[-2000:]}") from error
    return stack


def _answers(stack: Stack) -> bool:
    assert stack.process.poll() is None, stack.log.read_text()[-2000:]
    try:
        with build_opener().open(f"{stack.url}/accounts/login/", timeout=5) as response:
            return bool(response.status == 200)
    except (URLError, OSError, http.client.HTTPException):
        return False


def wait_for(condition: Callable[[], Any], timeout_s: float, words: str = "") -> Any:
    """The first true value of `condition`; AssertionError with `words` after `timeout_s`."""
    end = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, words or f"not within {timeout_s} s"
        time.sleep(0.2)


def kept_runtimes() -> Path:
    """Where suites keep the runtimes that they install, for each other and for the next time."""
    kept = Path(tempfile.gettempdir()) / f"plstack-runtimes-{os.getuid()}"
    kept.mkdir(exist_ok=True)
    return kept


@contextmanager
def running() -> Iterator[Stack]:
    """A copy in a folder of its own, with the runtimes of earlier ones.

    Not below pytest's: each start of pytest closes that to other accounts, and the database and the tenants have
    accounts of their own."""
    home = Path(tempfile.mkdtemp(prefix="plstack-suite-"))
    home.chmod(0o755)
    (home / "runtimes").symlink_to(kept_runtimes())
    stack = start(home)
    try:
        yield stack
    finally:
        stack.stop()
        shutil.rmtree(home, ignore_errors=True)


@dataclass(slots=True)
class Api:
    """A person signed in to a copy over HTTP, as a script would be."""

    stack: Stack
    jar: CookieJar = field(default_factory=CookieJar)

    def sign_in(self, username: str = ADMIN, password: str = PASSWORD) -> "Api":
        page = self._open(Request(f"{self.stack.url}/accounts/login/"))[1].decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token is not None
        form = {"login": username, "password": password, "csrfmiddlewaretoken": token[1]}
        self._open(Request(f"{self.stack.url}/accounts/login/", urlencode(form).encode()))
        assert any(cookie.name == "plstack_session" for cookie in self.jar), "signing in failed"
        return self

    def get(self, path: str) -> Any:
        """JSON of a GET under /api/v1/."""
        return json.loads(self._open(Request(f"{self.stack.url}/api/v1{path}"))[1])

    def body(self, path: str) -> bytes:
        """Body of a GET of any path."""
        return self._open(Request(f"{self.stack.url}{path}"))[1]

    def answer(self, path: str) -> tuple[int, str, str]:
        """Status, Retry-After and content type of a GET of any path; OSError where nobody answers."""
        request = Request(f"{self.stack.url}{path}", headers={"Referer": self.stack.url})
        try:
            with build_opener(HTTPCookieProcessor(self.jar)).open(request, timeout=30) as response:
                return response.status, "", str(response.headers["Content-Type"])
        except HTTPError as error:
            return error.code, error.headers.get("Retry-After") or "", str(error.headers["Content-Type"])

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        """As `post`."""
        return self._send("PATCH", path, body, {})

    def post(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
        """JSON of a POST under /api/v1/; AssertionError with the answer for a status other than 2xx."""
        return self._send("POST", path, body or {}, headers)

    def _send(self, method: str, path: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
        token = next(cookie.value for cookie in self.jar if cookie.name == "plstack_csrf")
        request = Request(f"{self.stack.url}/api/v1{path}", json.dumps(body).encode(), method=method)
        request.add_header("Content-Type", "application/json")
        request.add_header("X-CSRFToken", token or "")
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        status, answer = self._open(request)
        assert 200 <= status < 300, answer.decode()
        return json.loads(answer) if answer else None

    def _open(self, request: Request) -> tuple[int, bytes]:
        request.add_header("Referer", self.stack.url)
        try:
            with build_opener(HTTPCookieProcessor(self.jar)).open(request, timeout=30) as response:
                return response.status, response.read()
        except HTTPError as error:
            return error.code, error.read()
