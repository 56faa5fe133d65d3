"""How work names a secret: by its id, with the place at which its program finds the value. Plain data, frozen."""

from dataclasses import dataclass

FOLDER = "/run/secrets"
"""Where files are inside; `$PLSTACK_SECRETS` on machines without a sandbox."""


@dataclass(frozen=True, slots=True)
class SecretReference:
    """`secret` is the id, `name` what it was called. One of `variable` and `file` (a name in `FOLDER`) is empty."""

    secret: str
    name: str
    variable: str = ""
    file: str = ""

    @property
    def place(self) -> str:
        """As people read it."""
        return f"${self.variable}" if self.variable else f"{FOLDER}/{self.file}"
