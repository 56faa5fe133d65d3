"""The way out of a sandbox: through the platform's proxy, and through nothing else."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from apps.workloads.drivers.local import mounting
from apps.workloads.drivers.local.environment import EGRESS_SOCKET
from apps.workloads.drivers.software_sources import of_machine
from tests.drivers.kit import Kit

ASKS = """
import time, urllib.error, urllib.request
end = time.monotonic() + 60
while True:
    try:
        print(urllib.request.urlopen("http://example.test/x", timeout=60).read().decode())
        break
    except urllib.error.URLError as error:
        if time.monotonic() > end:
            raise
        time.sleep(0.2)
"""
REFUSED = """
import os, socket, time
time.sleep(1)
try:
    socket.create_connection(("127.0.0.1", 3128), 2)
except OSError as error:
    print(type(error).__name__, os.environ.get("HTTP_PROXY"))
"""


@contextmanager
def proxy(home: Path) -> Iterator[list[bytes]]:
    """Answers every request with "through", and keeps the first lines that it got."""
    path = mounting.egress_folder(home) / EGRESS_SOCKET
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    seen: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                with peer:
                    request = peer.recv(65536)
                    if not request:  # only looked whether somebody is here
                        continue
                    seen.append(request.split(b"\r\n")[0])
                    peer.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\nthrough")

        threading.Thread(target=serve, daemon=True).start()
        yield seen
        listener.shutdown(socket.SHUT_RDWR)
    path.unlink()


def test_requests_leave_through_the_platforms_proxy(isolated: Kit, home: Path) -> None:
    with proxy(home) as seen:
        ended, text = isolated.run(isolated.python(ASKS, egress=True))
    assert ended.succeeded, text
    assert text == "through\n"
    assert b"GET http://example.test/x HTTP/1.1" in seen


def test_a_proxy_that_comes_later_is_found(isolated: Kit, home: Path) -> None:
    handle = isolated.launch(isolated.python("print('ready')\n" + ASKS, egress=True))
    isolated.wait_output(handle, "ready")
    with proxy(home):
        assert isolated.wait_exit(handle).succeeded


def test_without_a_proxy_the_connection_is_refused(isolated: Kit) -> None:
    _, text = isolated.run(isolated.python(REFUSED, egress=True))
    assert text == "ConnectionRefusedError http://127.0.0.1:3128\n"


def test_who_did_not_ask_for_a_way_out_has_none(isolated: Kit, home: Path) -> None:
    with proxy(home):
        _, text = isolated.run(isolated.python(REFUSED + "\nprint(os.path.exists('/run/plstack/egress'))"))
    assert text == "ConnectionRefusedError None\nFalse\n"


def test_the_index_of_this_machine_is_passed_on_but_no_password(tmp_path: Path) -> None:
    config = tmp_path / "pip.conf"
    config.write_text("[global]\nindex-url = https://mirror.test/simple\ntrusted-host =\n    a.test\n    b.test\n")
    environ = {"PIP_CONFIG_FILE": str(config), "HOME": str(tmp_path)}
    (tmp_path / ".npmrc").write_text("fund=false\nregistry = https://npm.test/\n")
    found = of_machine(environ)
    assert found.pip_index == "https://mirror.test/simple"
    assert found.pip_trusted_hosts == "a.test b.test"
    assert found.npm_registry == "https://npm.test/"
    own = {"PIP_INDEX_URL": "https://own.test/simple", "NPM_CONFIG_REGISTRY": "https://own.test/npm/"}
    found = of_machine({**environ, **own})
    assert (found.pip_index, found.npm_registry) == ("https://own.test/simple", "https://own.test/npm/")
    assert of_machine({**environ, "PIP_INDEX_URL": "https://me:secret@own.test/simple"}).pip_index == ""
