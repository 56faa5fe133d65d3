"""The values of a trial, taken over into the next version of the run that was tuned."""

from dataclasses import replace

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from apps.automl.models import Trial
from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.training import selectors as training
from apps.training import services as runs
from apps.training.models import Run
from apps.training.placing import Placement, place


def adopt(actor: Actor, trial: Trial, *, key: str) -> Run:
    """Start it. Raises as `training.services.submit`."""
    if not key:
        raise Invalid.field("key", _("A key is missing."))
    template = training.get(actor, trial.experiment.template_id)
    plain = runs.request_of(template, key=key[:64])
    placements = {name: Placement.from_json(said) for name, said in trial.experiment.placements.items()}
    placed = place(plain.arguments, plain.environment, placements, trial.values)
    note = _("Trial %(number)s of %(name)s") % {"number": trial.number, "name": trial.experiment.name}
    return runs.submit(
        actor, replace(plain, arguments=placed.arguments, environment=placed.environment, note=note[:200], resume=None)
    )


def next_version(run: Run) -> int:
    return training.newest_version(run) + 1


def key_field(key: str) -> SafeString:
    return format_html('<input type="hidden" name="key" value="{}">', key)
