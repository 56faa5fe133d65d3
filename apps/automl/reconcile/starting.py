"""Trials that have no run yet: each is submitted as its owner, with the rights, prices and quota of now."""

from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal

from django.db.models import QuerySet
from django.utils import translation

from apps.automl import states
from apps.automl.choices import LIVE, EndReason, Hurdle, TrialStatus
from apps.automl.models import LONGEST_NAME, Experiment, Trial
from apps.automl.reconcile.claims import EXPERIMENTS
from apps.billing.caps.selectors import cap_limit
from apps.billing.consumption.spending import spent_in_all
from apps.common.actor import Actor
from apps.common.errors import Denied, DomainError
from apps.common.scoping import acting
from apps.tenants.actors import organisation_actor
from apps.training import services as runs
from apps.training.checkpoints import has_any
from apps.training.continuing import Resume
from apps.training.driving import hurdle_of, least_cap, stop_run
from apps.training.models import Run
from apps.training.placing import Placement, place

HINDERED_S = 10.0
"""What could not be started is tried again after so many seconds."""


def start_waiting(actor: Actor, experiment: Experiment) -> Hurdle:
    """Start them by number until one cannot be; what stood in its way. It may end the experiment."""
    for trial in list(waiting_trials(experiment)):
        EXPERIMENTS.require(experiment)
        cap, hurdle = _cap(experiment)
        if hurdle:
            return _without_money(actor, experiment)
        try:
            run = _submit(experiment, trial, cap)
        except Denied as error:
            return _refused(actor, experiment, error, EndReason.OWNER_LOST)
        except DomainError as error:
            return _refused(actor, experiment, error, EndReason.TEMPLATE_LOST)
        if not states.started(trial, run):
            _forget(actor, trial, run)
    return Hurdle.NONE


def waiting_trials(experiment: Experiment) -> QuerySet[Trial]:
    """By number."""
    rows: QuerySet[Trial] = Trial.objects.filter(
        experiment=experiment, status=TrialStatus.WAITING, run__isnull=True, asked=""
    )
    return rows.select_related("parent__run").order_by("number")


def _submit(experiment: Experiment, trial: Trial, cap_fen: int | None) -> Run:
    """Its run, or the one that its key has started before."""
    owner = organisation_actor(experiment.owner, experiment.organisation_id)
    with acting(owner):
        return runs.submit(owner, request_of(experiment, trial, cap_fen))


def request_of(experiment: Experiment, trial: Trial, cap_fen: int | None) -> runs.Request:
    """The template again, with the values of the trial in their places, as a run of its own."""
    plain = runs.request_of(experiment.template, key=_key(trial))
    placements = {name: Placement.from_json(said) for name, said in experiment.placements.items()}
    placed = place(plain.arguments, plain.environment, placements, trial.values)
    parent = trial.parent.run if trial.parent is not None else None
    goes_on = parent is not None and has_any(parent)  # without a checkpoint it begins anew, with the better values
    number = f" {trial.number}"
    return replace(
        plain,
        name=f"{experiment.name[: LONGEST_NAME - len(number)].rstrip()}{number}",
        note="",
        code_id=None,
        parent_id=None,
        fork_of=experiment.template_id,
        arguments=placed.arguments,
        environment=placed.environment,
        cap_fen=cap_fen,
        resume=Resume(parent.pk) if parent is not None and goes_on else None,
        trial_of=experiment.pk,
    )


def _cap(experiment: Experiment) -> tuple[int | None, Hurdle]:
    """The most that the next trial may cost: its template's own cap, and no more than is left of the budget.

    What trials that live may still cost by their caps is not left; so all of them together never cost more.
    """
    own = cap_limit(experiment.template.workload_id)
    if experiment.budget_fen is None:
        return own, Hurdle.NONE
    rows = list(Trial.objects.filter(experiment=experiment).select_related("run"))
    open_slots = max(1, experiment.parallel - sum(1 for each in rows if each.run and each.status in LIVE))
    share = int((left(experiment, rows) / open_slots).to_integral_value(rounding=ROUND_FLOOR))
    cap = share if own is None else min(own, share)
    return cap, Hurdle.NONE if cap >= least_cap(experiment.template) else Hurdle.BUDGET


def left(experiment: Experiment, rows: list[Trial]) -> Decimal:
    """Of the budget, in fen: less what ended trials cost and what those that live may."""
    started = {each.run.workload_id: each for each in rows if each.run is not None}
    spent = spent_in_all(started)
    committed = Decimal(0)
    for workload_id, each in started.items():
        cap = cap_limit(workload_id) if each.status in LIVE else None
        committed += max(spent.get(workload_id, Decimal(0)), Decimal(cap or 0))
    return Decimal(experiment.budget_fen or 0) - committed


def _without_money(actor: Actor, experiment: Experiment) -> Hurdle:
    """Where nothing runs that could give back what it does not use, the experiment is at its end."""
    running = Trial.objects.filter(experiment=experiment, status=TrialStatus.RUNNING)
    if not running.exists():
        states.end(actor, experiment, EndReason.BUDGET)
    return Hurdle.BUDGET


def _refused(actor: Actor, experiment: Experiment, error: DomainError, reason: EndReason) -> Hurdle:
    if hurdle := hurdle_of(error):
        return Hurdle(hurdle)
    with translation.override("en"):
        states.end(actor, experiment, reason, {"said": error.sentences[:500]})
    return Hurdle.NONE


def end_unstarted(actor: Actor, trial: Trial) -> bool:
    """Give up a trial that has no run; whether it has ended.

    A turn may have submitted one and died before it wrote so down: it becomes the trial's, and is stopped as any other.
    """
    run = Run.objects.filter(trial_of=trial.experiment_id, workload__submit_key=_key(trial)).first()
    if run is None:
        return states.end_trial(trial, TrialStatus.STOPPED)
    states.started(trial, run)
    stop_run(actor, run)
    return False


def _key(trial: Trial) -> str:
    return f"trial-{trial.pk}"


def _forget(actor: Actor, trial: Trial, run: Run) -> None:
    """It was given up while it was submitted: the run stays as its run, and ends."""
    Trial.objects.filter(pk=trial.pk, run__isnull=True).update(run=run)
    stop_run(actor, run)
