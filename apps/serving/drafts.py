"""What a version is to be, as a person asks for it, and what can be wrong with that."""

import ast
import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.common.text import unstorable
from apps.serving.choices import MOST_SCRIPT, Runtime
from apps.serving.program import READY, SCRIPT_PORT, argv_of
from apps.storage.choosing import Chosen

LOWEST_PORT, HIGHEST_PORT = 1024, 65535
MOST_AT_A_TIME, MOST_TIMEOUT_S, MOST_BODY_MIB = 256, 600, 1024
MOST_SMOKE = 64 * 1024
PATH = re.compile(r"/[!-~]{0,199}", re.ASCII)
ENTRY = "predict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Fields as `ServiceVersion` has them; `command`: of an own server, as typed; `model_id`: a version of a model."""

    runtime: Runtime
    image_id: UUID
    script: str = ""
    command: str = ""
    model_id: UUID | None = None
    mounts: tuple[Chosen, ...] = ()
    port: int = SCRIPT_PORT
    health_path: str = READY
    at_a_time: int = 1
    timeout_s: int = 60
    body_limit_mib: int = 16
    repeatable: bool = True
    smoke_path: str = ""
    smoke_body: str = ""
    note: str = ""

    def columns(self) -> dict[str, Any]:
        """What the row keeps of it, checked. Raises `Invalid` beside the field."""
        _check_numbers(self)
        _check_path("health_path", self.health_path)
        if self.smoke_path:
            _check_path("smoke_path", self.smoke_path)
        _check_text("smoke_body", self.smoke_body, MOST_SMOKE)
        is_script = self.runtime == Runtime.SCRIPT
        if is_script:
            check_script(self.script)
        return {
            "runtime": self.runtime,
            "script": self.script if is_script else "",
            "argv": [] if is_script else list(argv_of(self.command)),
            "port": SCRIPT_PORT if is_script else self.port,
            "health_path": READY if is_script else self.health_path,
            **{name: getattr(self, name) for name in ("at_a_time", "timeout_s", "body_limit_mib", "repeatable")},
            **{name: getattr(self, name) for name in ("smoke_path", "smoke_body", "note")},
        }


def check_script(script: str) -> None:
    """Raises `Invalid` beside `script` for what is no Python, and for a script without `predict`."""
    if not script.strip():
        raise Invalid.field("script", _("Write the script, with a function predict(model, inputs)."))
    _check_text("script", script, MOST_SCRIPT)
    try:
        tree = ast.parse(script)
    except SyntaxError as error:
        words = _("Line %(line)s is no Python: %(why)s.")
        raise Invalid.field("script", words % {"line": error.lineno or 1, "why": error.msg}) from None
    except (ValueError, RecursionError, MemoryError):
        raise Invalid.field("script", _("This cannot be read as Python.")) from None
    found = next((each for each in tree.body if getattr(each, "name", "") == ENTRY), None)
    if isinstance(found, ast.AsyncFunctionDef):
        raise Invalid.field("script", _("predict has to be a plain function: def predict(model, inputs)."))
    if found is None and ENTRY not in _bound(tree):
        raise Invalid.field("script", _("The script has no function predict(model, inputs)."))


def _bound(tree: ast.Module) -> set[str]:
    """Names that the script imports or assigns at its top; `predict` for a star, of which nobody knows."""
    names: set[str] = set()
    for each in tree.body:
        if isinstance(each, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).replace("*", ENTRY) for alias in each.names}
        elif isinstance(each, ast.Assign):
            names |= {target.id for target in each.targets if isinstance(target, ast.Name)}
    return names


def _check_numbers(draft: Draft) -> None:
    for name, least, most in (
        ("port", LOWEST_PORT, HIGHEST_PORT),
        ("at_a_time", 1, MOST_AT_A_TIME),
        ("timeout_s", 1, MOST_TIMEOUT_S),
        ("body_limit_mib", 1, MOST_BODY_MIB),
    ):
        if not least <= getattr(draft, name) <= most:
            raise Invalid.field(name, _("From %(least)s to %(most)s.") % {"least": least, "most": most})


def _check_path(field: str, path: str) -> None:
    if not PATH.fullmatch(path):
        raise Invalid.field(field, _("A path begins with / and has up to 200 letters, digits and signs, no spaces."))


def _check_text(field: str, text: str, most: int) -> None:
    if problem := unstorable(text):
        raise Invalid.field(field, problem)
    if len(text) > most:
        raise Invalid.field(field, _("No more than %(most)s characters.") % {"most": most})
