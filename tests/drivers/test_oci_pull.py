"""Images are fetched from registries that are slow, broken, guarded or hostile, and kept while they are used."""

import http.server
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from apps.workloads.drivers.base import PullRules, Reference
from apps.workloads.drivers.local.oci import pull, registry, streams
from apps.workloads.drivers.local.oci.store import Store
from apps.workloads.drivers.said import Code
from tests.drivers import registries
from tests.drivers.registries import ARCHITECTURE, INDEX, MANIFEST, Registry, answer, layer, many, plain_registry

Handler = http.server.BaseHTTPRequestHandler
MIB = 1024 * 1024


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setattr(registry, "PAUSE_S", 0.0)
    with plain_registry() as found:
        yield found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def fetch(server: Registry, image: Reference, home: Path, rules: PullRules | None = None) -> Path:
    home.mkdir(exist_ok=True)
    pull.Pull(pull.Job(image, home, rules or server.rules), lambda *_: None).run()
    return Store(home).tree(image)


def refused(server: Registry, image: Reference, home: Path, rules: PullRules | None = None) -> Code:
    """Why; and nothing of it is there afterwards that anybody could run."""
    with pytest.raises(pull.PullFailed) as failure:
        fetch(server, image, home, rules)
    assert str(failure.value.said)
    assert not Store(home).has(image)
    assert not Store(home).draft(image).exists()
    return failure.value.said.code


def blobs_asked(server: Registry) -> int:
    return sum("/blobs/" in path for _, path, _ in server.asked)


def test_an_image_is_fetched_once(server: Registry, home: Path) -> None:
    image = server.image(layer(("a", b"1")), layer(("b", b"22")), Env=["A=1"], Cmd=["a"], Entrypoint=None)
    tree = fetch(server, image, home)
    assert {path.name for path in tree.iterdir()} == {"a", "b"}
    config = Store(home).config(image)
    assert (config.env, config.cmd, config.size, config.files) == ({"A": "1"}, ("a",), 3, 2)
    asked = len(server.asked)
    fetch(server, image, home)
    assert len(server.asked) == asked
    assert not Store(home).blobs(image).exists()


def test_an_index_gives_the_manifest_of_this_machine(server: Registry, home: Path) -> None:
    mine, other = server.image(layer(("mine", b""))), server.image(layer(("other", b"")), architecture="riscv64")
    entries = [
        {"digest": each.digest, "size": 1, "mediaType": MANIFEST, "platform": {"os": "linux", "architecture": name}}
        for each, name in ((other, "riscv64"), (mine, ARCHITECTURE))
    ]
    found = fetch(server, server.document({"manifests": entries}, INDEX), home)
    assert [path.name for path in found.iterdir()] == ["mine"]
    without = server.document({"manifests": entries[:1]}, INDEX)
    assert refused(server, without, home) is Code.IMAGE_OTHER_MACHINE


def test_zstd_and_plain_layers(server: Registry, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("zstd") is None:
        pytest.skip("zstd is not installed")

    def zstd(data: bytes) -> bytes:
        return subprocess.run(["zstd", "-cq"], input=data, capture_output=True, check=True).stdout

    image = server.image(layer(("a", b"1"), compress=zstd), layer(("b", b"2"), compress=bytes))
    assert {path.name for path in fetch(server, image, home).iterdir()} == {"a", "b"}
    monkeypatch.setattr(streams.shutil, "which", lambda _name: None)
    monkeypatch.setattr(streams.importlib.util, "find_spec", lambda _name: None)
    again = server.image(layer(("c", b"1"), compress=zstd))
    assert refused(server, again, home) is Code.IMAGE_NEEDS_ZSTD


def test_bad_images_are_named(server: Registry, home: Path) -> None:
    rules = replace(server.rules, most_layers=5, most_mib=1, most_files=5)
    missing = Reference(f"{server.host}/team/box", f"sha256:{'0' * 64}")
    config = server.blob(json.dumps({"architecture": ARCHITECTURE}).encode())
    cases: list[tuple[Reference, Code]] = [
        (missing, Code.IMAGE_NOT_THERE),
        (server.image(layer(("a", b"")), architecture="s390x"), Code.IMAGE_OTHER_MACHINE),
        (server.image(*many(6)), Code.IMAGE_TOO_MANY_LAYERS),
        (server.image(layer(("a", bytes(2 * MIB)))), Code.IMAGE_TOO_LARGE),
        (server.image(layer(*((f"f{number}", b"") for number in range(9)))), Code.IMAGE_TOO_MANY_FILES),
        (server.image(layer(("../a", b""))), Code.IMAGE_HOSTILE),
        (server.image(b"\x1f\x8bno gzip"), Code.IMAGE_UNREADABLE),
        (server.image(layer(("a", b"")), Env="A=B"), Code.IMAGE_UNREADABLE),
        (server.document({"schemaVersion": 1}, MANIFEST), Code.IMAGE_UNREADABLE),
        (server.document({"config": config}, MANIFEST), Code.IMAGE_UNREADABLE),
        (server.document({"config": config, "layers": [{"digest": "../x", "size": 1}]}, MANIFEST),
         Code.IMAGE_UNREADABLE),
        (server.document({"config": config, "layers": [{**config, "size": 1 << 50}]}, MANIFEST), Code.IMAGE_TOO_LARGE),
    ]  # fmt: skip
    assert [refused(server, image, home, rules) for image, _ in cases] == [code for _, code in cases]


def test_other_bytes_than_the_digest_says_are_thrown_away(server: Registry, home: Path) -> None:
    content = layer(("a", b"1"))
    image = server.image(content)
    path = f"/v2/team/box/blobs/{registries.digest_of(content)}"

    def other(handler: Handler, body: bytes) -> bool:
        answer(handler, 200, body[:-1] + b"\1")
        return True

    server.faults[path] = other
    assert refused(server, image, home) is Code.IMAGE_DAMAGED
    del server.faults[path]
    server.faults[f"/v2/team/box/manifests/{image.digest}"] = other
    assert refused(server, image, home) is Code.IMAGE_DAMAGED
    server.faults.clear()
    assert fetch(server, image, home).is_dir()  # nothing that was wrong was kept


def test_a_broken_line_goes_on_where_it_broke(server: Registry, home: Path) -> None:
    content = layer(("a", bytes(range(256)) * 4096), compress=bytes)
    image = server.image(content)
    broken: list[int] = []

    def cut(handler: Handler, body: bytes) -> bool:
        if handler.headers.get("Range") or broken:
            return False
        broken.append(1)
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[: len(body) // 2])
        handler.close_connection = True
        return True

    server.faults[f"/v2/team/box/blobs/{registries.digest_of(content)}"] = cut
    assert (fetch(server, image, home) / "a").stat().st_size == 256 * 4096
    ranges = [headers["Range"] for _, _, headers in server.asked if "Range" in headers]
    assert ranges == [f"bytes={len(content) // 2}-"]


def test_a_registry_that_wants_a_token_gets_one(server: Registry, home: Path) -> None:
    image = server.image(layer(("a", b"")))

    def guarded(handler: Handler, _body: bytes) -> bool:
        if handler.headers.get("Authorization") == "Bearer let-me-in":
            return False
        scope = 'service="registry",scope="repository:team/box:pull"'
        challenge = f'Bearer realm="http://{server.host}/token?a=b",{scope}'
        answer(handler, 401, b"", {"WWW-Authenticate": challenge})
        return True

    def token(handler: Handler, _body: bytes) -> bool:
        status = 200 if handler.headers.get("Authorization") == "Basic dXNlcjpzZWNyZXQ=" else 401
        answer(handler, status, json.dumps({"token": "let-me-in"}).encode())
        return True

    server.faults |= {"/v2/": guarded, "/token": token}
    assert refused(server, image, home) is Code.REGISTRY_REFUSES
    (home / "registry-auth.json").write_text(json.dumps({"auths": {server.host: {"auth": "dXNlcjpzZWNyZXQ="}}}))
    assert fetch(server, image, home).is_dir()
    asked = [path for _, path, _ in server.asked if path.startswith("/token")]
    assert asked[-1] == "/token?a=b&service=registry&scope=repository%3Ateam%2Fbox%3Apull"


def test_a_redirect_takes_no_credential_along(server: Registry, home: Path) -> None:
    image = server.image(layer(("a", b"1")))
    with plain_registry() as elsewhere:
        elsewhere.image(layer(("a", b"1")))

        def basic(handler: Handler, _body: bytes) -> bool:
            if "Authorization" not in handler.headers:
                answer(handler, 401, b"", {"WWW-Authenticate": "Basic"})
                return True
            if "/blobs/" in handler.path:
                answer(handler, 307, b"", {"Location": f"http://{elsewhere.host}{handler.path}"})
                return True
            return False

        server.faults["/v2/"] = basic
        home.mkdir()
        (home / "registry-auth.json").write_text(json.dumps({"auths": {server.host: {"auth": "dXNlcjpzZWNyZXQ="}}}))
        assert fetch(server, image, home).is_dir()
        assert elsewhere.asked
        assert not any("Authorization" in headers for _, _, headers in elsewhere.asked)


def test_a_redirect_does_not_leave_http_for_files(server: Registry, home: Path) -> None:
    image = server.image(layer(("a", b"1")))

    def away(handler: Handler, _body: bytes) -> bool:
        answer(handler, 307, b"", {"Location": "file:///etc/passwd"})
        return True

    server.faults["/v2/team/box/blobs/"] = away
    assert refused(server, image, home) in (Code.REGISTRY_UNREACHABLE, Code.REGISTRY_REFUSES)


def test_a_registry_that_does_not_answer_is_named(server: Registry, home: Path) -> None:
    image = replace(server.image(layer(("a", b""))), repository="localhost:1/team/box")
    assert refused(server, image, home, PullRules(plain_http=("localhost:1",))) is Code.REGISTRY_UNREACHABLE
    assert refused(server, image, home, PullRules()) is Code.REGISTRY_UNREACHABLE  # TLS, and nobody there either


def test_two_at_once_fetch_it_once(server: Registry, home: Path) -> None:
    image = server.image(layer(("a", b"1")))
    home.mkdir()
    failures: list[BaseException] = []

    def one() -> None:
        try:
            fetch(server, image, home)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert blobs_asked(server) == 2  # its configuration and its layer


def test_the_one_used_longest_ago_goes_and_never_one_that_runs(server: Registry, home: Path) -> None:
    rules = replace(server.rules, cache_mib=3)
    store = Store(home)
    names = ("first", "second", "third", "fourth")
    images = {name: server.image(layer((name, name.encode() + bytes(2 * MIB)))) for name in names}
    fetch(server, images["first"], home, rules)
    held = store.hold(images["first"])
    fetch(server, images["second"], home, rules)
    fetch(server, images["third"], home, rules)
    assert [name for name in names if store.has(images[name])] == ["first", "third"]
    os.close(held)
    fetch(server, images["fourth"], home, rules)
    assert [name for name in names if store.has(images[name])] == ["fourth"]
    assert not list(store.folder.glob(".*"))
