"""What every start of work asks, whatever its kind: the form and the API make it, a kind's request adds its own."""

import re
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.workloads.kinds import Words
from apps.workloads.run_times import RunTimes
from apps.workloads.spec import Port


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """`key` makes it idempotent: the same key again returns what was started first.

    `preemptible`: it may be asked to give way. `cluster_id`: the only logical cluster that it may run in. `also_ids`:
    other packages that would do. `cap_fen`: the most that it may cost. `tags`: as typed. `expected_s`, `longest_s`: how
    long it should run, and may. `gpu_idle_minutes`: it is stopped once its cards have stood idle for so long. `ports`:
    of its own, to be opened in the browser.
    """

    name: str
    image_id: UUID
    package_id: int
    key: str
    note: str = ""
    preemptible: bool = True
    cluster_id: UUID | None = None
    also_ids: tuple[int, ...] = ()
    cap_fen: int | None = None
    tags: tuple[str, ...] = ()
    expected_s: int | None = None
    longest_s: int | None = None
    gpu_idle_minutes: int | None = None
    ports: tuple[Port, ...] = ()

    @property
    def times(self) -> RunTimes:
        return RunTimes(self.expected_s, self.longest_s, self.gpu_idle_minutes)


def clean_launch_name(name: str, *, longest: int, missing: Words) -> str:
    """With single spaces between its words. Raises `Invalid` beside `name`, with `missing` where there is none."""
    cleaned = " ".join(name.split())
    if not cleaned:
        raise Invalid.field("name", missing)
    if len(cleaned) > longest or not re.fullmatch(r"\w[\w .\-]*", cleaned):
        raise Invalid.field(
            "name",
            _("A name has up to %(most)s letters, digits, spaces, dots, - and _, and starts with a letter or digit.")
            % {"most": longest},
        )
    return cleaned
