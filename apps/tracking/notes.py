"""What is not measured: parameters, which are written once, and tags, which may change."""

import unicodedata
from collections.abc import Mapping
from uuid import UUID

from django.utils.translation import gettext as _

from apps.common.errors import Conflict, Invalid
from apps.tracking.models import LONGEST_PARAMETER, LONGEST_TAG, Parameter, TrackedRun, TrackingTag
from apps.tracking.points import LimitReached, check_name
from apps.tracking.tracked_runs import writing

MOST_PARAMETERS = 2_000
MOST_TAGS = 500


class AlreadySet(Conflict):
    """A parameter has another value already."""

    code = "parameter_set"


def set_parameters(*, run_id: UUID, values: Mapping[str, str]) -> None:
    """All or none. The same value again changes nothing; raises `AlreadySet` for another one."""
    _check(values, "parameters", LONGEST_PARAMETER)
    with writing(run_id) as run:
        known = dict(Parameter.objects.filter(run=run).values_list("name", "value"))
        for name, value in values.items():
            if known.get(name, value) != value:
                raise AlreadySet(
                    _("The parameter “%(name)s” is “%(old)s” already; it cannot become “%(new)s”.")
                    % {"name": name, "old": known[name][:80], "new": value[:80]},
                    hint=_("Parameters are written once. Log what changes as a metric or a tag."),
                )
        new = {name: value for name, value in values.items() if name not in known}
        if len(known) + len(new) > MOST_PARAMETERS:
            raise LimitReached(_("A run keeps at most %(most)s parameters.") % {"most": MOST_PARAMETERS})
        Parameter.objects.bulk_create(
            Parameter(organisation_id=run.organisation_id, run=run, name=name, value=value)
            for name, value in new.items()
        )


def set_tags(*, run_id: UUID, values: Mapping[str, str]) -> None:
    """All or none; what was there under these names is replaced."""
    _check(values, "tags", LONGEST_TAG)
    with writing(run_id) as run:
        others = TrackingTag.objects.filter(run=run).exclude(name__in=list(values)).count()
        if others + len(values) > MOST_TAGS:
            raise LimitReached(_("A run keeps at most %(most)s tags.") % {"most": MOST_TAGS})
        TrackingTag.objects.bulk_create(
            (
                TrackingTag(organisation_id=run.organisation_id, run=run, name=name, value=value)
                for name, value in values.items()
            ),
            update_conflicts=True,
            update_fields=["value"],
            unique_fields=["run", "name"],
        )


def delete_tag(*, run_id: UUID, name: str) -> bool:
    """Whether it was there."""
    with writing(run_id) as run:
        return bool(TrackingTag.objects.filter(run=run, name=name).delete()[0])


def add_inputs(*, run_id: UUID, inputs: list[object], most: int = 1_000) -> None:
    """Data sets that the program says it read, as its client describes them."""
    with writing(run_id) as run:
        if len(run.inputs) + len(inputs) > most:
            raise LimitReached(_("A run keeps at most %(most)s inputs.") % {"most": most})
        TrackedRun.objects.filter(pk=run.pk).update(inputs=[*run.inputs, *inputs])


def _check(values: Mapping[str, str], field: str, longest: int) -> None:
    for name, value in values.items():
        check_name(name, f"{field}.{name[:80]}")
        if len(value) > longest:
            raise Invalid.field(f"{field}.{name[:80]}", _("At most %(most)s characters.") % {"most": longest})
        if any(unicodedata.category(each) == "Cs" or each == "\0" for each in value):
            raise Invalid.field(f"{field}.{name[:80]}", _("This text holds characters that cannot be stored."))
