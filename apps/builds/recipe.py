"""The form as a Containerfile: there is one way to build, and what the form made can be taken further by hand."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.registry.recipes.recipe import apt_line

PLACE = "/opt/files/"
"""Where the uploaded files are put."""
_APT = re.compile(r"[a-z0-9][a-z0-9+.\-]*(?::[a-z0-9]+)?(?:=[A-Za-z0-9.+~:\-]+)?\Z")
_PIP = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-]*(?:\[[A-Za-z0-9._,\-]+\])?(?:\s*(?:[<>=!~]=?=?)\s*[^\s;#]+)?\Z")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the form asks. `commands`: one a line, each a RUN of its own."""

    base: str
    apt: Sequence[str] = ()
    pip: Sequence[str] = ()
    commands: Sequence[str] = ()
    has_files: bool = False

    def containerfile(self) -> str:
        """Raises `Invalid` beside the field whose text is none."""
        lines = [f"FROM {self.base}"]
        if names := _checked("apt", self.apt, _APT, _("“%(name)s” is not the name of a Debian package.")):
            lines.append(apt_line(names))
        if pins := _checked("pip", self.pip, _PIP, _("“%(name)s” is not a requirement of pip, such as numpy==2.3.5.")):
            lines.append(f"RUN python3 -m pip install {' '.join(shlex.quote(pin) for pin in pins)}")
        if self.has_files:
            lines.append(f"COPY . {PLACE}")
        lines += [f"RUN {command.strip()}" for command in self.commands if command.strip()]
        if len(lines) == 1:
            raise Invalid(_("Nothing is asked for: name packages, files or commands."))
        return "\n".join(lines) + "\n"


def _checked(field: str, words: Sequence[str], pattern: re.Pattern[str], refusal: object) -> list[str]:
    found = [word.strip() for word in words if word.strip()]
    bad = next((word for word in found if not pattern.match(word)), None)
    if bad is not None:
        raise Invalid.field(field, str(refusal) % {"name": bad[:60]})
    return found
