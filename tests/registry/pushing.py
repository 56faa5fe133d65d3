"""A client of the registry that does one step of a push at a time, and looks whether an image can be pulled whole."""

import gzip
import hashlib
import http.client
import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from apps.registry.distribution import bearer
from apps.registry.distribution.bearer import Grant
from apps.registry.models import ImageRepository
from apps.workloads.references import Reference
from tests.drivers.registries import ARCHITECTURE, INDEX, MANIFEST, digest_of, layer
from tests.registry.serving import Site

CONFIG, LAYER = "application/vnd.oci.image.config.v1+json", "application/vnd.oci.image.layer.v1.tar+gzip"


@dataclass(frozen=True, slots=True)
class Image:
    """An image, or an index of images, which are pushed before it."""

    manifest: bytes
    blobs: tuple[bytes, ...] = ()
    children: tuple["Image", ...] = ()

    @property
    def digest(self) -> str:
        return digest_of(self.manifest)


def image(name: str, layers: Sequence[bytes]) -> Image:
    ids = [f"sha256:{hashlib.sha256(gzip.decompress(each)).hexdigest()}" for each in layers]
    about = {"os": "linux", "architecture": ARCHITECTURE, "config": {"Labels": {"name": name}}}
    config = json.dumps({**about, "rootfs": {"type": "layers", "diff_ids": ids}}).encode()
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": CONFIG, "digest": digest_of(config), "size": len(config)},
        "layers": [{"mediaType": LAYER, "digest": digest_of(each), "size": len(each)} for each in layers],
    }
    return Image(json.dumps(manifest).encode(), (config, *layers))


def index(*images: Image) -> Image:
    platform = {"os": "linux", "architecture": ARCHITECTURE}
    entries = [
        {"mediaType": MANIFEST, "digest": each.digest, "size": len(each.manifest), "platform": platform}
        for each in images
    ]
    body = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}).encode()
    return Image(body, children=images)


SHARED, ALONE = layer(("shared", b"s" * 1000)), layer(("alone", b"a" * 1000))
FIRST, SECOND = image("first", [SHARED, ALONE]), image("second", [SHARED])


def api_url(repository: ImageRepository, rest: str = "") -> str:
    return f"/api/v1/images/repositories/{repository.pk}/{rest}"


@dataclass(frozen=True, slots=True)
class Pusher:
    """`username` may do everything with `name`."""

    site: Site
    name: str
    username: str

    def reference(self, what: Image = FIRST) -> Reference:
        """As work names it."""
        return Reference(f"{self.site.host}/{self.name}", what.digest)

    def begin(self, what: Image) -> list[str]:
        """Bring what is missing, as clients do: what is said to be there is not sent. The digests that were sent."""
        sent = [digest for child in what.children for digest in self.begin(child)]
        for blob in what.blobs:
            digest = digest_of(blob)
            if self.ask("HEAD", f"blobs/{digest}")[0] == 200:
                continue
            status, place, _body = self.ask("POST", "blobs/uploads/")
            assert status == 202, _body
            parts = urlsplit(place)
            target = f"{parts.path}?{parts.query}&digest={digest}"
            status, _place, answer = self.send("PUT", target, blob, "application/octet-stream")
            assert status == 201, answer
            sent.append(digest)
        return sent

    def end(self, what: Image, tag: str) -> int:
        for child in what.children:
            self.send("PUT", f"/v2/{self.name}/manifests/{child.digest}", child.manifest, MANIFEST)
        kind = INDEX if what.children else MANIFEST
        return self.send("PUT", f"/v2/{self.name}/manifests/{tag}", what.manifest, kind)[0]

    def push(self, what: Image, tag: str) -> None:
        self.begin(what)
        assert self.end(what, tag) == 201

    def is_whole(self, reference: str) -> bool:
        """Whether all of it can be pulled and is what it is called."""
        status, _place, body = self.ask("GET", f"manifests/{reference}")
        if status != 200 or (reference.startswith("sha256:") and digest_of(body) != reference):
            return False
        about = json.loads(body)
        if "manifests" in about:
            return all(self.is_whole(child["digest"]) for child in about["manifests"])
        for each in (about["config"], *about["layers"]):
            status, _place, data = self.ask("GET", f"blobs/{each['digest']}")
            if status != 200 or digest_of(data) != each["digest"]:
                return False
        return True

    def delete(self, digest: str) -> int:
        return self.ask("DELETE", f"manifests/{digest}")[0]

    def ask(self, method: str, path: str) -> tuple[int, str, bytes]:
        return self.send(method, f"/v2/{self.name}/{path}")

    def send(self, method: str, path: str, body: bytes | None = None, kind: str = "") -> tuple[int, str, bytes]:
        """Status, where the answer leads to, and the answer."""
        host, _, port = self.site.host.partition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=90)
        token = bearer.issue(self.username, [Grant(self.name, frozenset({"pull", "push", "delete"}))])
        headers = {"Authorization": f"Bearer {token}", "Accept": f"{MANIFEST}, {INDEX}"}
        if kind:
            headers["Content-Type"] = kind
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers.get("Location", ""), answer.read()
        finally:
            connection.close()
