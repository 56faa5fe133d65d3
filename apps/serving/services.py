"""Making services, starting versions of them, scaling and stopping: what pages and the API call."""

import re
import secrets
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.idempotency import key_reused
from apps.common.scoping import acting
from apps.serving import states
from apps.serving.choices import KIND, LONGEST_NAME, OPEN, DeploymentStatus, Ending
from apps.serving.drafts import Draft
from apps.serving.models import Deployment, Scaling, Service, ServiceVersion
from apps.serving.program import spec_of
from apps.serving.versions import add_version, mounts_for
from apps.storage import services as storage
from apps.tenants.actors import organisation_actor
from apps.workloads.choices import Reason
from apps.workloads.launching.request import Launch, clean_launch_name
from apps.workloads.launching.submission import choose_package, submission
from apps.workloads.models import ReplicaSet
from apps.workloads.permissions import may_manage, may_submit
from apps.workloads.replicas import services as replicas
from apps.workloads.replicas.services import MOST_REPLICAS

HOST_RANDOM = 5  # bytes: nobody finds a service by trying names


def clean_name(name: str) -> str:
    return clean_launch_name(name, longest=LONGEST_NAME, missing=gettext_lazy("Give the service a name."))


def create(actor: Actor, draft: Draft, launch: Launch, wanted: int) -> Service:
    """A service with its first version, which gets ready on so many replicas; all or nothing.

    The image of `launch` says nothing. Raises `Invalid`, `Conflict` for a name that is taken, `QuotaExceeded`,
    `InsufficientFunds`. The same key again returns the service made first.
    """
    may_submit(actor, KIND)
    if (made := _made(actor, launch.key)) is not None:
        return made
    launch = replace(launch, name=clean_name(launch.name))
    package = choose_package(actor, launch.package_id)
    _check_number(wanted)
    try:
        with storage.new_folders() as folders:
            service: Service = Service.objects.create(
                organisation_id=actor.organisation(),
                owner_id=actor.person(),
                name=launch.name,
                note=launch.note,
                host=_host(launch.name),
                package=package,
                replicas=wanted,
                submit_key=launch.key,
            )
            record_change(actor, service, "created")
            _deploy(actor, service, add_version(actor, service, draft, folders), launch, wanted)
            return service
    except IntegrityError as error:
        made = _made(actor, launch.key)
        if made is None:
            raise _name_taken() from error
        return made


def _name_taken() -> Invalid:
    return Invalid.field("name", _("Your organisation has a service of this name already."))


def _made(actor: Actor, key: str) -> Service | None:
    found: Service | None = Service.objects.filter(owner_id=actor.person(), submit_key=key).first()
    return found


def _host(name: str) -> str:
    """A label of the domain name: the name as far as it can be one, and what nobody guesses."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower())[:30].strip("-")
    return f"{plain or 'service'}-{secrets.token_hex(HOST_RANDOM)}"


def update(actor: Actor, service_id: UUID, draft: Draft, launch: Launch, wanted: int) -> Deployment:
    """A new version, which gets ready beside the one that serves and takes over once it has proved itself.

    Raises as `create`, and `Conflict` while another one is getting ready.
    """
    _check_number(wanted)
    with storage.new_folders() as folders:
        service, owner = changeable(actor, service_id)
        with acting(owner):
            if (made := _deployed(owner, launch.key)) is not None:
                return made
            _refuse_second(service)
            return _deploy(owner, service, add_version(owner, service, draft, folders), launch, wanted)


def deploy(actor: Actor, service_id: UUID, version_id: UUID, launch: Launch, wanted: int) -> Deployment:
    """A version that there is, again: after a stop, or to go back to it. Raises as `update`, `NotFound`."""
    _check_number(wanted)
    with transaction.atomic():
        service, owner = changeable(actor, service_id)
        with acting(owner):
            if (made := _deployed(owner, launch.key)) is not None:
                return made
            _refuse_second(service)
            version = ServiceVersion.objects.select_related("image", "code", "model__model").filter(
                service=service, pk=version_id
            )
            found = version.first()
            if found is None:
                raise NotFound
            return _deploy(owner, service, found, launch, wanted)


def go_back(actor: Actor, service: Service, version: ServiceVersion) -> Deployment:
    """A version of before, beside one whose answers fail. Needs the service's lock. Raises as `deploy`."""
    owner = _owner_of(actor, service)
    with acting(owner):
        launch = Launch(name=service.name, image_id=version.image_id, package_id=service.package_id, key=uuid4().hex)
        made = _deploy(owner, service, version, launch, service.replicas)
        Deployment.objects.filter(pk=made.pk).update(returns=True)
        return made


def _deployed(owner: Actor, key: str) -> Deployment | None:
    """What the key has started before. Raises `KeyReused`."""
    found: ReplicaSet | None = ReplicaSet.objects.filter(owner_id=owner.person(), submit_key=key).first()
    if found is None:
        return None
    made: Deployment | None = Deployment.objects.filter(replica_set=found).first()
    if made is None:
        raise key_reused()
    return made


def _refuse_second(service: Service) -> None:
    if Deployment.objects.filter(service=service, status=DeploymentStatus.PREPARING).exists():
        raise Conflict(
            _("Another version is getting ready."), hint=_("Wait until it serves, or withdraw it, then start again.")
        )


def _deploy(owner: Actor, service: Service, version: ServiceVersion, launch: Launch, wanted: int) -> Deployment:
    """Needs the service's lock, or its insertion."""
    wanted = _by_load(service, wanted)
    package = choose_package(owner, launch.package_id)
    spec = spec_of(version, service.name, package, mounts_for(owner, version))
    asked = submission(owner, KIND, spec, package, replace(launch, name=f"{service.name} v{version.number}"))
    deployment = Deployment(
        organisation_id=service.organisation_id,
        service=service,
        version=version,
        replica_set=replicas.submit(owner, asked, wanted=wanted),
        author_id=owner.person(),
    )
    states.create(owner, deployment)
    Service.objects.filter(pk=service.pk).update(package=package, replicas=wanted)
    return deployment


def _by_load(service: Service, wanted: int) -> int:
    """What follows the load takes over with no fewer replicas than serve now."""
    found: Scaling | None = Scaling.objects.filter(service=service).first()
    if found is None:
        return wanted
    active = of_status(service, [DeploymentStatus.ACTIVE]).first()
    return max(found.least, min(found.most, active.replica_set.wanted if active else wanted))


def _check_number(wanted: int) -> None:
    if not 1 <= wanted <= MOST_REPLICAS:
        raise Invalid.field("replicas", _("From 1 to %(most)s replicas.") % {"most": MOST_REPLICAS})


def scale(actor: Actor, service_id: UUID, wanted: int) -> None:
    """So many replicas of what serves, or of what is to serve first.

    Raises `Conflict` while it is stopped, or follows the load.
    """
    with transaction.atomic():
        service, _owner = changeable(actor, service_id)
        if Scaling.objects.filter(service=service).exists():
            raise Conflict(
                _("Its number of replicas follows the load."), hint=_("Change its least and most number instead.")
            )
        bring_to(actor, service, wanted)


def bring_to(actor: Actor, service: Service, wanted: int) -> None:
    """Needs the service's lock. Raises as `scale`; then nothing is changed."""
    with transaction.atomic():
        found = list(of_status(service, [DeploymentStatus.ACTIVE, DeploymentStatus.PREPARING]).order_by("created_at"))
        if not found:
            raise Conflict(_("It is stopped."), hint=_("Start it with the number of replicas that it is to have."))
        for each in found:
            replicas.scale(actor, each.replica_set_id, wanted)
        Service.objects.filter(pk=service.pk).update(replicas=wanted)


def stop(actor: Actor, service_id: UUID, reason: Ending = Ending.STOPPED) -> None:
    """Nobody is led there any more, and what was begun is finished. Raises `Conflict` while it is stopped."""
    with transaction.atomic():
        service, _owner = changeable(actor, service_id)
        found = list(of_status(service, OPEN - {DeploymentStatus.DRAINING}))
        if not found:
            raise Conflict(_("It is stopped already."))
        for each in found:
            give_up(actor, each, reason)
        Service.objects.filter(pk=service.pk).update(stops_at=None)
        record_change(actor, service, "stopped", {"reason": str(reason)})


def withdraw(actor: Actor, service_id: UUID) -> None:
    """End the version that is getting ready; what serves is not touched. `Conflict` where none is."""
    with transaction.atomic():
        service, _owner = changeable(actor, service_id)
        coming = of_status(service, [DeploymentStatus.PREPARING]).first()
        if coming is None:
            raise Conflict(_("No version is getting ready."))
        give_up(actor, coming, Ending.WITHDRAWN)


def give_up(actor: Actor, deployment: Deployment, reason: Ending) -> None:
    """What serves is drained, what does not serve yet ends at once. Needs the service's lock."""
    if deployment.status == DeploymentStatus.ACTIVE:
        states.drain(actor, deployment, reason)
    else:
        states.end(actor, deployment, reason)
        stop_replicas(actor, deployment)


def stop_replicas(actor: Actor, deployment: Deployment, why: Reason = Reason.BY_PERSON) -> None:
    """Ask them to end, unless they have."""
    found = deployment.replica_set
    if found.ended_at is None:
        replicas.stop(actor, found.pk, why)


def of_status(service: Service, statuses: Iterable[DeploymentStatus]) -> Any:
    rows = Deployment.objects.select_related("version", "service", "replica_set")
    return rows.filter(service=service, status__in=list(statuses))


def locked(service_id: UUID, *, skip_locked: bool = False) -> Service | None:
    """The row, for whoever changes what it runs; None where there is none, or somebody else has it."""
    rows = Service.objects.select_for_update(of=("self",), no_key=True, skip_locked=skip_locked)
    found: Service | None = rows.filter(pk=service_id, deleted_at__isnull=True).first()
    return found


def changeable(actor: Actor, service_id: UUID) -> tuple[Service, Actor]:
    """Locked, with the actor in whose name it runs: its owner, whoever asks."""
    service = locked(service_id)
    if service is None:
        raise NotFound
    may_manage(actor, KIND, service.owner_id)
    if actor.user_id == service.owner_id and not actor.platform:
        return service, actor
    if actor.user_id is None:
        return service, actor
    return service, _owner_of(actor, service)


def _owner_of(actor: Actor, service: Service) -> Actor:
    """In whose name it runs, while the log says who did it."""
    owner = organisation_actor(service.owner, service.organisation_id, channel=actor.channel, address=actor.address)
    return replace(owner, label=actor.label)


def record_change(
    actor: Actor, service: Service, what: str, after: dict[str, Any] | None = None, before: dict[str, Any] | None = None
) -> None:
    record(
        actor,
        action=f"serving.{what}",
        target=Target("service", str(service.pk), service.name),
        organisation_id=service.organisation_id,
        before=before,
        after=after,
    )
