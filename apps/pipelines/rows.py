"""Steps as rows of a form: typed text becomes a `Step`, and what is wrong with it stands beside it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeVar
from uuid import UUID

from django.http import QueryDict
from django.utils.translation import gettext as _

from apps.pipelines.graph.faults import MOST_STEPS
from apps.pipelines.graph.steps import Step
from apps.pipelines.graph.text import (
    Unreadable,
    read_needs,
    read_rows,
    read_variables,
    write_needs,
    write_rows,
    write_variables,
)

PREFIX = "step_"
FIELDS = ("name", "template", "needs", "inputs", "arguments", "environment", "retries", "pause_s", "may_fail")
Read = TypeVar("Read")


@dataclass(slots=True)
class StepRow:
    """`typed` by `FIELDS`; `errors` likewise, and those of the service."""

    typed: dict[str, str]
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not any(self.typed[name].strip() for name in ("name", "needs", "inputs", "arguments", "environment"))

    def step(self) -> Step:
        """What was typed, as far as it can be read; `errors` says what cannot."""
        return Step(
            name=self.typed["name"].strip(),
            template=self._template(),
            needs=self._read(
                "needs", read_needs, _("%(said)s cannot be read: write train, or evaluate: accuracy >= 0.9.")
            ),
            inputs=tuple(each.strip() for each in self.typed["inputs"].replace("，", ",").split(",") if each.strip()),
            arguments=self._read("arguments", read_rows, _("%(said)s cannot be read: write --epochs=20 --fast.")),
            environment=self._read(
                "environment", read_variables, _("%(said)s cannot be read: write SEED=1 RATE=${rate}.")
            ),
            retries=self._number("retries"),
            pause_s=self._number("pause_s"),
            may_fail=self.typed["may_fail"] == "yes",
        )

    def _template(self) -> str:
        try:
            return str(UUID(self.typed["template"]))
        except ValueError:
            return ""

    def _read(self, name: str, read: Callable[[str], tuple[Read, ...]], words: str) -> tuple[Read, ...]:
        try:
            return read(self.typed[name])
        except Unreadable as error:
            self.errors[name] = words % {"said": error.said}
            return ()

    def _number(self, name: str) -> int:
        text = self.typed[name].strip()
        if not text:
            return 0
        try:
            return int(text)
        except ValueError:
            self.errors[name] = _("This is no whole number.")
            return 0


def rows_of(data: QueryDict) -> list[StepRow]:
    """The rows of a posted form, without those that nothing was typed into."""
    columns = [data.getlist(f"{PREFIX}{name}") for name in FIELDS]
    rows = [StepRow(dict(zip(FIELDS, cells, strict=True))) for cells in zip_longest(*columns, fillvalue="")]
    return [row for row in rows[: MOST_STEPS + 1] if not row.is_empty]


def rows_for(steps: Sequence[Step]) -> list[StepRow]:
    return [StepRow(_typed(each)) for each in steps]


def empty_row(template: str = "") -> StepRow:
    return StepRow({**dict.fromkeys(FIELDS, ""), "template": template})


def put_errors(rows: Sequence[StepRow], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Errors `steps.<index>.<field>` beside their rows; what is left."""
    rest = {}
    for name, text in fields.items():
        first, _dot, after = name.partition(".")
        index, _dot, column = after.partition(".")
        if first == "steps" and index.isdigit() and int(index) < len(rows):
            rows[int(index)].errors.setdefault(column, str(text))
        else:
            rest[name] = text
    return rest


def _typed(step: Step) -> dict[str, str]:
    return {
        "name": step.name,
        "template": step.template,
        "needs": write_needs(step.needs),
        "inputs": ", ".join(step.inputs),
        "arguments": write_rows(step.arguments),
        "environment": write_variables(step.environment),
        "retries": str(step.retries) if step.retries else "",
        "pause_s": str(step.pause_s) if step.pause_s else "",
        "may_fail": "yes" if step.may_fail else "",
    }
