"""What the operator sets about sharing between organisations."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class SharingSettings:
    """`allowed`: whether repositories can be shared. Switched off, existing shares rest and are kept."""

    KEY: ClassVar[str] = "image_sharing"

    allowed: bool = False
