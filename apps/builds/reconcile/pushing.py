"""The image of a build on its way into the registry."""

from django.utils.translation import gettext_lazy as _

from apps.builds.models import Build
from apps.common.errors import Conflict
from apps.registry.distribution import sending
from apps.registry.distribution.sending import Sending
from apps.registry.models import Image
from apps.workloads.drivers.base import Progress
from apps.workloads.references import Reference
from apps.workloads.selectors import current_attempt


def push(build: Build, image: Reference) -> Image | Progress:
    """One turn: the pushed image, or how far it is. Raises as `sending.push`."""
    attempt = current_attempt(build.workload)
    if attempt is None:
        raise Conflict(_("It does not run any more."))
    parcel = Sending(attempt, image, build.repository, build.tag, build.owner, build.organisation_id)
    return sending.push(parcel, begun=build.sending is not None)
