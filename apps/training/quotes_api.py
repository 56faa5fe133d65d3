"""/api/v1/training/quote/: what a run would cost, whether it could start, and when."""

from uuid import UUID

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing import selectors as funds
from apps.clusters.selectors import cluster_named
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Invalid
from apps.common.permissions import Permission
from apps.registry.selectors import choosable_image
from apps.storage.copy_quote import quoted_copies
from apps.training.choices import KIND
from apps.training.quote_serializers import QuoteRequestSerializer, QuoteSerializer
from apps.workloads.launching.submission import choose_package
from apps.workloads.offers.package_options import also_named
from apps.workloads.offers.picker import package_choices
from apps.workloads.offers.proposals import proposals
from apps.workloads.offers.quoting import contract_on, offer

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)


def _cluster(asked: UUID | None) -> str | None:
    """Raises `Invalid` where nothing may be bound to it."""
    found = cluster_named(asked)
    if asked is not None and found is None:
        raise Invalid.field("cluster", _("Your organisation has no such logical cluster. Choose another one."))
    return found


class QuoteView(ScopedView):
    access = SUBMIT

    @extend_schema(request=QuoteRequestSerializer, responses=QuoteSerializer)
    def post(self, request: Request) -> Response:
        """What a run on this package would cost, whether it could start, and when. Changes nothing."""
        asked = QuoteRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        package = choose_package(self.actor, data["package_id"])
        also = also_named(self.actor, package, data.get("also_ids", ()))
        cluster = _cluster(data.get("cluster_id"))
        asked_image = data.get("image_id")
        image = choosable_image(self.actor, asked_image, containers=True) if asked_image else None
        archs = tuple(image.architectures) if image else ()
        found = offer(
            self.actor,
            package,
            kind=KIND,
            also=also,
            cluster=cluster,
            members=data["members"],
            least=data.get("least_members"),
            archs=archs,
        )
        packages = [] if found.starts_now else list(funds.packages(self.actor))
        choices = package_choices(self.actor, packages, archs=archs) if packages else []
        terms = contract_on(
            self.actor, package, preemptible=data["preemptible"], priority=data.get("priority"), also=also
        )
        better = proposals(self.actor, found, choices)
        copies = quoted_copies(self.actor, data.get("mounts", ()))
        context = {"alternatives": better, "contract": terms, "cap_fen": data.get("cap_fen"), "copies": copies}
        return Response(QuoteSerializer(found, context=context).data)
