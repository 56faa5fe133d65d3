"""What people and domain apps do with workloads."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.billing import selectors as billing_reads
from apps.billing import services as billing
from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.idempotency import key_reused
from apps.tenants import quotas
from apps.tenants.models import Membership
from apps.workloads import announce, nudge, saving, states
from apps.workloads.choices import LIVE, Kind, Reason, Status
from apps.workloads.isolation import refuse_unless_trusted
from apps.workloads.models import Workload
from apps.workloads.options import dearest_of
from apps.workloads.permissions import may_change, may_submit
from apps.workloads.placing import spec_with_place
from apps.workloads.queueing.policy import rules
from apps.workloads.replicas import converge
from apps.workloads.replicas import states as replica_sets
from apps.workloads.resources import holder_of, quota_amounts
from apps.workloads.run_times import NO_TIMES, RunTimes
from apps.workloads.spec import Spec
from apps.workloads.start_rights import hold_image
from apps.workloads.tagging import tag_columns
from apps.workloads.time_limits import within
from apps.workloads.validation import refuse_nonsense


@dataclass(frozen=True, slots=True)
class Submission:
    """One workload to run. `key` makes the submission idempotent for its owner. `priority` None: their highest.

    `cap_fen`: the most that it may cost; then it is saved and stopped. `tags`: as typed. `package`: that of
    `package_id` with its zone, where it has just been read. `times`: how long it runs, and when it is stopped.
    """

    kind: Kind
    name: str
    spec: Spec
    package_id: int
    price_version_id: int
    key: str
    id: UUID
    priority: int | None = None
    cap_fen: int | None = None
    tags: tuple[str, ...] = ()
    package: Package | None = None
    times: RunTimes = NO_TIMES
    replica: "ReplicaOf | None" = None


@dataclass(frozen=True, slots=True)
class ReplicaOf:
    """The set that it is one of, and its number there: see `replicas`."""

    set_id: UUID
    index: int


def submit(actor: Actor, submission: Submission) -> Workload:
    """Reserve quota, hold funds, freeze the spec and queue the workload, all or nothing.

    The same key again returns the workload made first. Raises `QuotaExceeded`, `InsufficientFunds`,
    `Invalid`, `Denied`.
    """
    _owner(actor, submission.kind)
    existing = submitted(actor, submission.kind, submission.key)
    if existing is not None:
        return existing
    try:
        with transaction.atomic():
            return submit_new(actor, submission)
    except IntegrityError:
        # Lost a race against the same key: everything above was rolled back, the winner's row is there.
        existing = submitted(actor, submission.kind, submission.key)
        if existing is None:
            raise
        return existing


def submitted(actor: Actor, kind: Kind, key: str) -> Workload | None:
    """What the key has started before; `KeyReused` where that was work of another kind."""
    found: Workload | None = Workload.objects.filter(owner_id=actor.user_id, submit_key=key).first()
    if found is not None and found.kind != kind:
        raise key_reused()
    return found


def submit_new(actor: Actor, submission: Submission) -> Workload:
    """As `submit`, for a key of which `submitted` knows nothing; `IntegrityError` where it was used meanwhile.

    Needs a transaction, which whatever this raises has to end.
    """
    organisation_id, owner_id = actor.organisation(), _owner(actor, submission.kind)
    refuse_unless_trusted(organisation_id)
    # Inserting first makes the loser of a race on one key wait here, before it takes quota or funds.
    workload = _insert(actor, submission, owner_id)
    for image in submission.spec.images:
        hold_image(organisation_id, image)
    quotas.reserve(
        organisation_id=organisation_id,
        department_id=actor.department_id,
        user_id=owner_id,
        amounts=quota_amounts(submission.spec, submission.kind),
        holder=holder_of(workload.pk),
    )
    _hold_first_hour(actor, workload, submission)
    if submission.cap_fen is not None:
        billing.set_cap(actor, capped(workload), submission.cap_fen)
    announce.status_changed(actor, workload, "")
    nudge.schedule()
    return workload


def _hold_first_hour(actor: Actor, workload: Workload, submission: Submission) -> None:
    """Of all members, on the dearest of the packages that would do."""
    billing.hold_for_start(
        actor,
        workload_id=workload.pk,
        price_version_id=dearest_of(submission.spec.options) or submission.price_version_id,
        label=submission.name,
        replicas=workload.member_count,
    )


def _owner(actor: Actor, kind: Kind) -> int:
    if actor.user_id is None:
        raise Invalid(_("Work needs an owner."))
    may_submit(actor, kind)
    return actor.user_id


def _insert(actor: Actor, submission: Submission, owner_id: int) -> Workload:
    package = submission.package or Package.objects.select_related("zone_offer__zone").get(pk=submission.package_id)
    spec = spec_with_place(submission.spec, package)
    refuse_nonsense(spec, actor.organisation())
    workload: Workload = Workload.objects.create(
        id=submission.id,
        organisation_id=actor.organisation(),
        owner_id=owner_id,
        department_id=actor.department_id,
        kind=submission.kind,
        name=submission.name,
        spec=spec.as_json(),
        member_count=spec.members,
        priority=_priority(actor, submission.priority),
        package_id=submission.package_id,
        price_version_id=submission.price_version_id,
        submit_key=submission.key,
        reason=Reason.SUBMITTED,
        replica_set_id=submission.replica.set_id if submission.replica else None,
        replica_index=submission.replica.index if submission.replica else None,
        **tag_columns(submission.tags),
        **within(actor.organisation(), submission.kind, submission.times).columns(has_gpu=spec.gpu is not None),
    )
    return workload


def highest_priority(actor: Actor) -> int:
    """The highest that the actor's own work may have: 5 goes first. As of their request; `submit` asks anew."""
    return actor.priority or _highest_now(actor)


def _highest_now(actor: Actor) -> int:
    rows = Membership.objects.filter(organisation_id=actor.organisation(), user_id=actor.user_id or 0)
    return rows.values_list("priority", flat=True).first() or 3


def _priority(actor: Actor, asked: int | None) -> int:
    most = _highest_now(actor)
    if asked is not None and not 1 <= asked <= most:
        raise Invalid.field("priority", _("Choose a priority from 1 to %(most)s.") % {"most": most})
    return asked or most


def stop(actor: Actor, workload: Workload, why: Reason = Reason.BY_PERSON) -> Workload:
    """Ask a workload to end. What waits ends at once; what runs gets SIGTERM and a grace period.

    Raises `Conflict` once it has ended.
    """
    may_change(actor, workload)
    if not states.stop(actor, workload, states.Why(why, {"by": actor.label, **saving.reason_data(workload, why)})):
        workload.refresh_from_db()
        if workload.status != Status.STOPPING:
            raise Conflict(_("This has ended already."))
    nudge.reconcile()
    return workload


def capped(workload: Workload) -> billing.CappedWorkload:
    return billing.CappedWorkload(
        workload.pk, workload.organisation_id, workload.price_version_id, workload.name, workload.member_count
    )


def set_cap(actor: Actor, workload: Workload, limit_fen: int | None) -> None:
    """Change the most that a workload may cost; None: without a cap. A stop at the former cap is called off.

    Raises `Conflict` once it is ending, `Invalid` for less than it has cost and some minutes more.
    """
    may_change(actor, workload)
    with transaction.atomic():
        if not workload.is_live or workload.status == Status.STOPPING:
            raise Conflict(_("This has ended already, or is about to."))
        billing.set_cap(actor, capped(workload), limit_fen)
        saving.call_off(actor, workload, Reason.CAP)


def enforce_arrears(actor: Actor) -> int:
    """Save and stop the compute of organisations whose grace has run out; the number of workloads asked to end.

    What has not been stopped yet goes on where the organisation is in order again. What is paid in advance goes on too,
    as long as its prepaid order covers it.
    """
    suspended = billing_reads.suspended_organisation_ids()
    asked = Workload.objects.filter(stop_reason=Reason.ARREARS, status=Status.RUNNING)
    for workload in asked.exclude(organisation_id__in=suspended):
        saving.call_off(actor, workload, Reason.ARREARS)
    by = db_now() + rules().save
    live = Workload.objects.filter(organisation_id__in=suspended, status__in=LIVE - {Status.STOPPING}, stop_reason="")
    due = live.exclude(pk__in=billing_reads.covered_workloads(suspended))
    return sum(_stop_unpaid(actor, workload, by) for workload in due)


def _stop_unpaid(actor: Actor, workload: Workload, by: datetime) -> bool:
    """Asked and its owner told together; told again only if it was called off or started anew since."""
    with transaction.atomic():
        if not saving.ask(actor, workload, Reason.ARREARS, by=by):
            return False
        announce.tell_owner(workload, "stopped_unpaid", {"by": by.isoformat()}, f"{workload.pk}:{by.isoformat()}")
        return True


def enforce_prepaid_ends(actor: Actor) -> int:
    """Save and stop what an expired prepaid order covered, where the order says so; how many were asked to end."""
    due = billing_reads.prepaid_stops()
    live = Workload.objects.filter(pk__in=due, status__in=LIVE - {Status.STOPPING}, stop_reason="")
    by = db_now() + rules().save
    return sum(saving.ask(actor, workload, Reason.PREPAID, by=by) for workload in live)


def enforce_caps(actor: Actor) -> int:
    """Save and stop what is about to have cost as much as it may; the number of workloads asked to end."""
    now = db_now()
    return sum(_at_cap(actor, near, now) for near in billing.near_caps(now=now))


def _at_cap(actor: Actor, near: billing.NearCap, now: datetime) -> bool:
    """Marked and asked together; its owner is told once for each cap."""
    with transaction.atomic():
        replica_sets.locked(near.workload_id)  # before the cap, as whoever changes the set locks them
        workload: Workload | None = Workload.objects.filter(_under_cap(near.workload_id), status__in=LIVE).first()
        if workload is None:
            billing.close_cap(near.workload_id, at=now)
            return False
        if not billing.mark_reached(near, at=now):
            return False
        if workload.replica_set is not None and workload.pk != near.workload_id:
            asked, name = converge.end_all(actor, near.workload_id, states.Why(Reason.CAP)), workload.replica_set.name
        else:
            asked, name = saving.ask(actor, workload, Reason.CAP, by=max(near.at, now)), workload.name
        if not asked:
            return False
        key = f"{near.workload_id}:{near.limit_fen}"
        announce.tell_owner(workload, "cap_reached", {"limit_fen": near.limit_fen, "name": name}, key)
        return True


def _under_cap(capped_id: UUID) -> Q:
    """The workload that the cap is on, or the replicas of the set."""
    return Q(pk=capped_id) | Q(replica_set_id=capped_id)
