"""Container images by reference. Standard library only: specifications and drivers both name them."""

import re
from dataclasses import dataclass

# The grammar of the Distribution project's reference package; the host has to be there, so that no default registry
# is meant, and a tag must not: the digest says which image it is, for good.
_HOST = r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::[0-9]{1,5})?"
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY = re.compile(rf"{_HOST}(?:/{_PART})+", re.ASCII)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
MAX_REPOSITORY = 255


@dataclass(frozen=True, slots=True)
class Reference:
    """A container image of the OCI, pinned by digest: `registry.lab:5000/team/torch@sha256:…`. Raises ValueError."""

    repository: str
    digest: str

    def __post_init__(self) -> None:
        if len(self.repository) > MAX_REPOSITORY or not _REPOSITORY.fullmatch(self.repository):
            raise ValueError(f"{self.repository!r} is no host and repository of an image, without a tag")
        if not _DIGEST.fullmatch(self.digest):
            raise ValueError(f"{self.digest!r} is no sha256 digest")

    @classmethod
    def parse(cls, text: str) -> "Reference":
        """`<host>/<repository>@sha256:<64 hexadecimal digits>`. Raises ValueError for anything else."""
        repository, _, digest = text.partition("@")
        return cls(repository, digest)

    @property
    def name(self) -> str:
        return f"{self.repository}@{self.digest}"
