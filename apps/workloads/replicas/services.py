"""What people and domain apps do with sets of replicas."""

from dataclasses import dataclass, replace
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.billing import selectors as billing_reads
from apps.billing import services as billing
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.idempotency import key_reused
from apps.common.scoping import acting
from apps.tenants.actors import organisation_actor
from apps.workloads import kinds, nudge, services
from apps.workloads.choices import Desired, Kind, Reason
from apps.workloads.models import ReplicaSet
from apps.workloads.permissions import may_manage, may_submit
from apps.workloads.replicas import converge
from apps.workloads.replicas import states as sets
from apps.workloads.services import ReplicaOf, Submission
from apps.workloads.states import Why

MOST_REPLICAS = 64
"""More of one set would be hard to watch."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """By whom and at which price replicas are started: as their owner, whoever asks."""

    owner: Actor
    price_version_id: int


def submit(actor: Actor, submission: Submission, *, wanted: int) -> ReplicaSet:
    """A set with so many replicas of `submission`, each with its own quota and hold; all or nothing.

    The set takes the submission's `id`. `cap_fen` is the most that all of them may cost together. The same key again
    returns the set made first. Raises as `workloads.submit`.
    """
    may_submit(actor, submission.kind)
    _refuse_nonsense(submission, wanted)
    existing = _submitted(actor, submission)
    if existing is not None:
        return existing
    try:
        with transaction.atomic():
            return _submit_new(actor, submission, wanted)
    except IntegrityError:
        # Lost a race against the same key: everything above was rolled back, the winner's row is there.
        existing = _submitted(actor, submission)
        if existing is None:
            raise
        return existing


def _refuse_nonsense(submission: Submission, wanted: int) -> None:
    if not kinds.named(submission.kind).replicas:
        raise Invalid(_("This kind of work has no replicas."))
    if submission.spec.members != 1:
        raise Invalid.field("members", _("A replica is one program: choose replicas or members."))
    if submission.spec.options:
        raise Invalid.field("package", _("Replicas are all started on one package."))
    _check_number(wanted)


def _check_number(wanted: int) -> None:
    if not 1 <= wanted <= MOST_REPLICAS:
        raise Invalid.field("replicas", _("From 1 to %(most)s replicas.") % {"most": MOST_REPLICAS})


def _submitted(actor: Actor, submission: Submission) -> ReplicaSet | None:
    rows = ReplicaSet.objects.filter(owner_id=actor.user_id, submit_key=submission.key)
    found: ReplicaSet | None = rows.first()
    if found is not None and found.kind != submission.kind:
        raise key_reused()
    return found


def _submit_new(actor: Actor, submission: Submission, wanted: int) -> ReplicaSet:
    found = ReplicaSet(
        id=submission.id,
        organisation_id=actor.organisation(),
        owner_id=actor.user_id or 0,
        kind=submission.kind,
        name=submission.name,
        spec=submission.spec.as_json(),
        package_id=submission.package_id,
        priority=submission.priority,
        tags=list(submission.tags),
        submit_key=submission.key,
        wanted=wanted,
    )
    sets.create(actor, found)
    _add(found, _Terms(actor, submission.price_version_id), wanted)
    if submission.cap_fen is not None:
        billing.set_cap(actor, _capped(found, submission.price_version_id), submission.cap_fen)
    return found


def _add(found: ReplicaSet, terms: _Terms, count: int) -> None:
    """So many more, each of which takes the lowest number that is free. Needs the set's lock, or its insertion."""
    taken = converge.taken_indexes(found)
    free = [index for index in range(MOST_REPLICAS + len(taken)) if index not in taken]
    with acting(terms.owner):
        for index in free[:count]:
            services.submit_new(terms.owner, _submission(found, terms, index))


def _submission(found: ReplicaSet, terms: _Terms, index: int) -> Submission:
    """Its owner's priority may have been lowered since: then it is the highest that they still have."""
    highest = services.highest_priority(terms.owner)
    return Submission(
        kind=Kind(found.kind),
        name=f"{found.name[:116]}-{index}",
        spec=found.frozen_spec,
        package_id=found.package_id,
        price_version_id=terms.price_version_id,
        key=f"replica:{uuid4().hex}",
        id=uuid4(),
        priority=found.priority and min(found.priority, highest),
        tags=tuple(found.tags),
        replica=ReplicaOf(found.pk, index),
    )


def scale(actor: Actor, set_id: UUID, wanted: int, *, price_version_id: int | None = None) -> ReplicaSet:
    """Have so many replicas from now on. New ones queue; of too many, those that serve least are stopped.

    New ones are started in their owner's name at `price_version_id`, which was quoted, or at the price of now. Raises
    `Conflict` once the set is ending, `Invalid` for a number out of range, and as `workloads.submit` for want of
    quota, of money or of the owner's rights; then nothing is changed.
    """
    _check_number(wanted)
    with transaction.atomic():
        found = _changeable(actor, set_id)
        converge.settle(actor, found)  # what was stopped for its own sake does not count any more
        if found.desired == Desired.STOPPED:
            raise _over()
        more = wanted - found.wanted
        if more:
            sets.want(actor, found, wanted)
        if more > 0:
            _add(found, _terms(actor, found, price_version_id), more)
        else:
            converge.settle(actor, found)
    nudge.reconcile()
    return found


def _terms(actor: Actor, found: ReplicaSet, price_version_id: int | None) -> _Terms:
    owner = actor
    if actor.platform or actor.user_id != found.owner_id:
        owner = organisation_actor(found.owner, found.organisation_id, channel=actor.channel, address=actor.address)
        owner = replace(owner, label=actor.label)  # the log says who did it
    if price_version_id is None:
        price = billing_reads.current_price(found.package_id)
        if price is None:
            raise Conflict(_("This package is no longer offered."))
        price_version_id = price.pk
    return _Terms(owner, price_version_id)


def stop(actor: Actor, set_id: UUID, why: Reason = Reason.BY_PERSON) -> ReplicaSet:
    """Ask all replicas to end, for good. Again while they do: nothing. Raises `Conflict` once they have ended."""
    with transaction.atomic():
        found = _changeable(actor, set_id)
        if found.ended_at is not None:
            raise _over()
        sets.end(actor, found, Why(why, {"by": actor.label}))
        converge.settle(actor, found)
    nudge.reconcile()
    return found


def set_cap(actor: Actor, set_id: UUID, limit_fen: int | None) -> None:
    """Change the most that all replicas may cost together; None: without a cap. Raises as `workloads.set_cap`."""
    with transaction.atomic():
        found = _changeable(actor, set_id)
        price = billing_reads.current_price(found.package_id)
        if found.desired == Desired.STOPPED or price is None:
            raise _over()
        billing.set_cap(actor, _capped(found, price.pk), limit_fen)


def _capped(found: ReplicaSet, price_version_id: int) -> billing.CappedWorkload:
    return billing.CappedWorkload(found.pk, found.organisation_id, price_version_id, found.name, found.wanted)


def _changeable(actor: Actor, set_id: UUID) -> ReplicaSet:
    """Locked, for its owner, those who manage the organisation's work, and the platform's staff."""
    found = sets.locked(set_id)
    if found is None:
        raise NotFound
    may_manage(actor, Kind(found.kind), found.owner_id)
    return found


def _over() -> Conflict:
    return Conflict(_("This has ended already, or is about to."))
