"""Addresses of images in other registries: `host/repository:tag@sha256:…`, in the Distribution project's grammar."""

import re
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid

_HOST = r"[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::[0-9]{1,5})?"
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_ADDRESS = re.compile(
    rf"(?P<host>{_HOST})/(?P<repository>{_PART}(?:/{_PART})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?",
    re.ASCII,
)
LONGEST = 400
# Docker Hub is called by one name and asked at another, and its official images have a folder that nobody writes.
_HUB, _HUB_HOST, _HUB_FOLDER = frozenset({"docker.io", "index.docker.io"}), "registry-1.docker.io", "library"


@dataclass(frozen=True, slots=True)
class Address:
    """`tag` or `digest` may be "", not both. `host`: as people call it."""

    host: str
    repository: str
    tag: str = ""
    digest: str = ""

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Raises `Invalid` (field `address`). Without tag and digest it is `latest`, as everywhere."""
        text = re.sub(r"\Adocker://", "", text.strip())
        found = _ADDRESS.fullmatch(text) if len(text) <= LONGEST else None
        if found is None or not ("." in found["host"] or ":" in found["host"] or found["host"] == "localhost"):
            raise Invalid.field(
                "address",
                _("This is no address of an image."),
                hint=_("It has a host, a repository and a tag or digest, as in docker.io/library/python:3.12."),
            )
        host, repository = found["host"].lower(), found["repository"]
        if host in _HUB:
            host = "docker.io"
            repository = repository if "/" in repository else f"{_HUB_FOLDER}/{repository}"
        tag, digest = found["tag"] or "", found["digest"] or ""
        return cls(host, repository, tag or ("" if digest else "latest"), digest)

    @property
    def text(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.host}/{self.repository}{tag}{f'@{self.digest}' if self.digest else ''}"

    @property
    def api_host(self) -> str:
        """Where its registry answers."""
        return _HUB_HOST if self.host in _HUB else self.host

    @property
    def reference(self) -> str:
        """What the registry is asked for: the digest where one is given."""
        return self.digest or self.tag

    @property
    def last_name(self) -> str:
        return self.repository.rpartition("/")[2]
