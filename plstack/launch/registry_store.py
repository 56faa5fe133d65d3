"""The folder in which distribution's registry keeps its blobs, while the registry is away."""

import hashlib
import json
import os
import shutil
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from plstack.launch.account import Account

KEEPER = "plstack-kept"  # no name of a repository of anybody's: those have two parts
KIND = "application/vnd.oci.image"


@dataclass(frozen=True, slots=True)
class Store:
    """Of the registry with this storage; what is made here belongs to its account. Digests are the 64 digits alone."""

    storage: Path
    account: Account

    @property
    def is_made(self) -> bool:
        """Whether anything was ever pushed."""
        return (self._root / "repositories").is_dir()

    def sizes(self) -> dict[str, int]:
        """Bytes of each blob."""
        found = {}
        for data in (self._root / "blobs" / "sha256").glob("*/*/data"):
            with suppress(OSError):
                found[data.parent.name] = data.lstat().st_size
        return found

    def has(self, digest: str) -> bool:
        return (self._blob(digest) / "data").exists()

    def keep(self, digests: Collection[str]) -> None:
        """Point to these blobs until `release`: by an image in a repository of its own, whose layers they are."""
        kept = [digest for digest in digests if self.has(digest)]
        if not kept:
            return
        named = [{"mediaType": f"{KIND}.layer.v1.tar", "digest": f"sha256:{digest}", "size": 1} for digest in kept]
        about = {
            "schemaVersion": 2,
            "mediaType": f"{KIND}.manifest.v1+json",
            "config": {**named[0], "mediaType": f"{KIND}.config.v1+json"},
            "layers": named,
        }
        body = json.dumps(about).encode()
        digest = hashlib.sha256(body).hexdigest()
        self._make(self._keeper / "_layers")
        self._put(self._blob(digest) / "data", body)
        self._put(self._keeper / "_manifests" / "revisions" / "sha256" / digest / "link", f"sha256:{digest}".encode())

    def release(self) -> None:
        """The image's manifest goes with the next collection."""
        if self._keeper.exists():
            shutil.rmtree(self._keeper)

    @property
    def _root(self) -> Path:
        return self.storage / "docker" / "registry" / "v2"

    @property
    def _keeper(self) -> Path:
        return self._root / "repositories" / KEEPER

    def _blob(self, digest: str) -> Path:
        return self._root / "blobs" / "sha256" / digest[:2] / digest

    def _put(self, path: Path, content: bytes) -> None:
        self._make(path.parent)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(content)
        self._own(path)

    def _make(self, folder: Path) -> None:
        """With those above it. Raises OSError where one is a link: the tree is the server's, and this may be root."""
        above = [folder, *folder.parents]
        for each in reversed(above[: above.index(self.storage)]):
            if each.is_symlink():
                raise OSError(f"{each} is a link")
            if not each.exists():
                each.mkdir(mode=0o700)
                self._own(each)

    def _own(self, path: Path) -> None:
        os.chown(path, self.account.uid, self.account.gid, follow_symlinks=False)
