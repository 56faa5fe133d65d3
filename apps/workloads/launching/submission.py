"""What a start asks the kernel for: the price of now, and every package that would do."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.workloads.choices import Kind
from apps.workloads.launching.request import Launch
from apps.workloads.offers.package_options import spec_on_any
from apps.workloads.ports.declaring import with_own_ports
from apps.workloads.services import Submission
from apps.workloads.spec import Spec


def packages_on_offer(actor: Actor) -> QuerySet[Package]:
    """What the actor may start on, with the zones."""
    return funds.packages(actor).select_related("zone_offer__zone")


def choose_package(actor: Actor, package_id: int, *, field: str = "package") -> Package:
    """Raises `Invalid` beside `field` for one that the actor is not offered."""
    package = packages_on_offer(actor).filter(pk=package_id).first()
    if package is None:
        raise Invalid.field(field, _("Choose one of the packages."))
    return package


def submission(actor: Actor, kind: Kind, spec: Spec, package: Package, launch: Launch, **rest: Any) -> Submission:
    """At today's price on `package`, or on whichever of the launch's other packages has room first.

    `package`: as `choose_package` read it. `rest`: what else `Submission` has.
    """
    cluster = None if launch.cluster_id is None else str(launch.cluster_id)
    asked = replace(with_own_ports(spec, launch.ports), preemptible=launch.preemptible, cluster=cluster)
    return Submission(
        kind=kind,
        spec=spec_on_any(actor, asked, package, launch.also_ids),
        package_id=package.pk,
        package=package,
        price_version_id=funds.price_on_offer(actor, package).pk,
        id=uuid4(),
        name=launch.name,
        key=launch.key,
        cap_fen=launch.cap_fen,
        tags=launch.tags,
        times=launch.times,
        **rest,
    )
