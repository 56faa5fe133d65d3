"""What a start asks the kernel for: the price of now, and every package that would do."""

from collections.abc import Collection
from typing import Any
from uuid import uuid4

from django.utils.translation import gettext_lazy as _

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.workloads.choices import Kind
from apps.workloads.offers.package_options import on_any
from apps.workloads.services import Submission
from apps.workloads.spec import Spec


def choose_package(actor: Actor, package_id: int, *, field: str = "package") -> Package:
    """Raises `Invalid` beside `field` for one that the actor is not offered."""
    package = funds.packages(actor).select_related("zone_offer__zone").filter(pk=package_id).first()
    if package is None:
        raise Invalid.field(field, _("Choose one of the packages."))
    return package


def submission(
    actor: Actor, kind: Kind, spec: Spec, package: Package, *, also_ids: Collection[int] = (), **rest: Any
) -> Submission:
    """At today's price on `package`, or on whichever of `also_ids` has room first.

    `package`: as `choose_package` read it. `rest`: as `Submission` has it.
    """
    return Submission(
        kind=kind,
        spec=on_any(actor, spec, package, also_ids),
        package_id=package.pk,
        price_version_id=funds.price_on_offer(actor, package).pk,
        id=uuid4(),
        **rest,
    )
