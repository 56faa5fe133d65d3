"""Starting, changing and ending experiments. Trials are started by the loop: see `reconcile`."""

import secrets
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.audit.services import record
from apps.automl import beginning, selectors, states
from apps.automl.choices import EndReason, ExperimentStatus, ResumePolicy, TrialStatus
from apps.automl.models import LONGEST_NAME, Experiment, Trial
from apps.automl.wanted import LARGEST_SEED, MOST_PARALLEL, MOST_TRIALS, NewExperiment, check
from apps.common import nudges
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.training import selectors as training
from apps.training import services as runs
from apps.training.choices import KIND
from apps.training.driving import least_cap
from apps.training.models import Run
from apps.workloads.launching.request import clean_launch_name
from apps.workloads.permissions import may_manage

MOST_BUDGET_FEN = 10**12
ADVANCE = "automl.advance"


def create(actor: Actor, wanted: NewExperiment) -> Experiment:
    """Validate and start it, all or nothing. Raises `Invalid` with every field at fault, `NotFound` for the run."""
    actor.require(Permission.TRAINING_SUBMIT)
    made = _made(actor, wanted.key)
    if made is not None:
        return made
    name = clean_launch_name(wanted.name, longest=LONGEST_NAME, missing=gettext_lazy("Give the experiment a name."))
    template = training.get(actor, wanted.template_id)
    check(wanted)
    _check_budget(template, wanted.budget_fen)
    beginning.check(actor, wanted)
    try:
        with transaction.atomic():
            experiment = _insert(actor, wanted, name, template)
            transaction.on_commit(_nudge, robust=True)
    except IntegrityError:  # the same key, sent twice at once
        made = _made(actor, wanted.key)
        if made is None:
            raise
        return made
    return experiment


def _made(actor: Actor, key: str) -> Experiment | None:
    if not key:
        raise Invalid.field("key", _("A key is missing."))
    found: Experiment | None = Experiment.objects.filter(owner_id=actor.person(), key=key).first()
    return found


def _insert(actor: Actor, wanted: NewExperiment, name: str, template: Run) -> Experiment:
    experiment: Experiment = Experiment.objects.create(
        organisation_id=actor.organisation(),
        owner_id=actor.person(),
        name=name,
        note=wanted.note[:200],
        key=wanted.key,
        template=template,
        objectives=[each.as_json() for each in wanted.objectives],
        strategy=wanted.counted,
        extra_metrics=list(wanted.extra_metrics),
        algorithm=wanted.algorithm,
        algorithm_settings=dict(wanted.settings),
        early_stopping=wanted.early_stopping.as_json(),
        parameters=wanted.space.as_json(),
        placements={each.name: wanted.placements[each.name].as_json() for each in wanted.parameters},
        seed=secrets.randbelow(LARGEST_SEED) if wanted.seed is None else wanted.seed,
        parallel=wanted.parallel,
        most_trials=wanted.most_trials,
        most_failed=wanted.most_failed,
        budget_fen=wanted.budget_fen,
        resume_policy=wanted.resume_policy,
        begins_with_id=wanted.begins_with,
    )
    said = {"template": str(template.pk), "algorithm": wanted.algorithm.value, "most_trials": wanted.most_trials}
    _record(actor, experiment, "experiment.started", after=said)
    return experiment


def _check_budget(template: Run, budget_fen: int | None) -> None:
    """It pays for the smallest cap of one trial at least. Raises `Invalid`."""
    if budget_fen is None:
        return
    least = least_cap(template)
    if budget_fen < least:
        text = _("At least %(least)s, or it does not pay for one trial.")
        raise Invalid.field("budget", text % {"least": yuan(least)})
    if budget_fen > MOST_BUDGET_FEN:
        raise Invalid.field("budget", _("At most %(limit)s.") % {"limit": yuan(MOST_BUDGET_FEN)})


def stop(actor: Actor, experiment: Experiment) -> None:
    """End it: its trials are stopped. Raises `Conflict` once it is ending or has ended."""
    may_manage(actor, KIND, experiment.owner_id)
    if not states.end(actor, experiment, EndReason.BY_PERSON, {"by": actor.label}):
        raise Conflict(_("It is ending, or has ended, already."))
    _nudge()


def pause(actor: Actor, experiment: Experiment, *, paused: bool) -> None:
    """No new trials from now on, or new ones again. Raises `Conflict` once it is ending."""
    may_manage(actor, KIND, experiment.owner_id)
    rows = Experiment.objects.filter(pk=experiment.pk, status=ExperimentStatus.RUNNING, paused_at__isnull=paused)
    with transaction.atomic():
        if rows.update(paused_at=Now() if paused else None, next_at=Now()):
            _record(actor, experiment, "experiment.paused" if paused else "experiment.unpaused")
        elif not Experiment.objects.filter(pk=experiment.pk, status=ExperimentStatus.RUNNING).exists():
            raise Conflict(_("It is ending, or has ended, already."))
    _nudge()


def change(
    actor: Actor, experiment: Experiment, *, parallel: int, most_trials: int, most_failed: int, budget_fen: int | None
) -> None:
    """How wide and how long it searches, while it runs. Raises `Invalid` by field, `Conflict` once it is ending."""
    may_manage(actor, KIND, experiment.owner_id)
    created = selectors.counts(experiment).created
    fields = {
        **({} if 1 <= parallel <= min(MOST_PARALLEL, most_trials) else {"parallel": _between(1, MOST_PARALLEL)}),
        **(
            {}
            if max(1, created) <= most_trials <= MOST_TRIALS
            else {"most_trials": _between(max(1, created), MOST_TRIALS)}
        ),
        **({} if 0 <= most_failed <= MOST_TRIALS else {"most_failed": _between(0, MOST_TRIALS)}),
    }
    if fields:
        raise Invalid(next(iter(fields.values())), fields=fields)
    _check_budget(experiment.template, budget_fen)
    new = {"parallel": parallel, "most_trials": most_trials, "most_failed": most_failed, "budget_fen": budget_fen}
    with transaction.atomic():
        if not Experiment.objects.filter(pk=experiment.pk, status=ExperimentStatus.RUNNING).update(
            **new, next_at=Now()
        ):
            raise Conflict(_("It is ending, or has ended, already."))
        before = {name: getattr(experiment, name) for name in new}
        _record(actor, experiment, "experiment.changed", before=before, after=new)
    _nudge()


def _between(least: int, most: int) -> str:
    return _("From %(least)s to %(most)s.") % {"least": least, "most": most}


def go_on(actor: Actor, experiment: Experiment, *, more: int) -> None:
    """So many trials more of one that has ended; the search knows all that were. As many failures are borne anew.

    Raises `Conflict` where its policy forbids it or it has not ended, `Invalid` for a number of trials that is none.
    """
    may_manage(actor, KIND, experiment.owner_id)
    if experiment.resume_policy == ResumePolicy.NEVER:
        raise Conflict(_("It was started to be final once it has ended."), hint=_("Start another one like it."))
    numbers = selectors.counts(experiment)
    if not 1 <= more <= MOST_TRIALS - numbers.created:
        raise Invalid.field("more", _between(1, max(1, MOST_TRIALS - numbers.created)))
    failed = min(MOST_TRIALS, numbers.failed + experiment.most_failed)
    if not states.go_on(actor, experiment, most_trials=numbers.created + more, most_failed=failed):
        raise Conflict(_("It has not ended yet."))
    _nudge()


def stop_trial(actor: Actor, trial: Trial) -> None:
    """Give one trial up; the experiment goes on. Raises `Conflict` for one that has ended."""
    may_manage(actor, KIND, trial.experiment.owner_id)
    if not states.ask_to_end([trial], TrialStatus.STOPPED):
        raise Conflict(_("It is ending, or has ended, already."))
    if trial.run is not None:
        runs.stop(actor, trial.run)
    Experiment.objects.filter(pk=trial.experiment_id).update(next_at=Now())
    _nudge()


def delete(actor: Actor, experiment: Experiment) -> None:
    """Out of every list; the runs of its trials stay where they are. Raises `Conflict` while it has not ended."""
    may_manage(actor, KIND, experiment.owner_id)
    with transaction.atomic():
        rows = Experiment.objects.filter(pk=experiment.pk, ended_at__isnull=False, deleted_at__isnull=True)
        if not rows.update(deleted_at=Now()):
            raise Conflict(_("It has not ended yet."), hint=_("Stop it first."))
        _record(actor, experiment, "experiment.deleted")


def template_of(actor: Actor, run_id: UUID) -> Run:
    """The run that a new experiment would be like. Raises `NotFound`."""
    return training.get(actor, run_id)


def _record(
    actor: Actor,
    experiment: Experiment,
    action: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    organisation_id, target = experiment.organisation_id, states.target(experiment)
    record(actor, action=action, organisation_id=organisation_id, target=target, before=before, after=after)


def _nudge() -> None:
    nudges.send(ADVANCE)
