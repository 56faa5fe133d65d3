"""What a driver raises. Each carries what it has to say; `str()` of it is English, for logs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from apps.workloads.drivers.said import Code, Said


class DriverError(Exception):
    """Not now. Nothing follows from this about the workload."""

    def __init__(self, said: Said) -> None:
        super().__init__(str(said))
        self.said = said


class CannotSee(DriverError):
    """Transient: the state could not be read. Keep the last known state, call it stale, ask again."""


LINK_DOWN = "link_down"
"""Code of a refused launch: what the machine had when the work was placed is gone. It may start on another one."""


class LaunchRefused(DriverError):
    """Final: this request can never start here. `code` groups the reasons and is stable."""

    def __init__(self, code: str, said: Said) -> None:
        super().__init__(said)
        self.code = code

    @property
    def text(self) -> str:
        return str(self.said)


class Unsupported(DriverError):
    """The driver, or this machine, does not offer this capability."""


@contextmanager
def now_or_later() -> Iterator[None]:
    """What the file system could not answer is not known; it is not an answer."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotSee(Said(Code.UNREADABLE, {"error": f"{type(error).__name__}: {error}"})) from error


def error_out(error: DriverError) -> dict[str, Any]:
    """What went wrong, as JSON in the contract's own terms. `text`: for a platform that knows no codes."""
    told = {"text": str(error), "said": error.said.as_json()}
    if isinstance(error, LaunchRefused):
        return {"kind": "refused", "code": error.code, **told}
    kind = "cannot_see" if isinstance(error, CannotSee) else "unsupported" if isinstance(error, Unsupported) else ""
    return {"kind": kind or "driver", **told}


def error_in(data: Mapping[str, Any]) -> DriverError:
    """What `error_out` wrote, here or in another version of the platform."""
    said = Said.from_json(data.get("said", data.get("text", "")))
    if data.get("kind") == "refused":
        return LaunchRefused(str(data.get("code", "")), said)
    return {"cannot_see": CannotSee, "unsupported": Unsupported}.get(str(data.get("kind")), DriverError)(said)
