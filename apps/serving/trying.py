"""The test page's requests: to a replica that is well, in the name of somebody who may see the service."""

from dataclasses import dataclass
from uuid import uuid4

from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, Unavailable
from apps.serving import selectors
from apps.serving.asking import Answer, NoAnswer, ask
from apps.serving.drafts import PATH
from apps.serving.models import Service
from apps.workloads import reach

LONGEST_S = 60.0


@dataclass(frozen=True, slots=True)
class Tried:
    answer: Answer
    request_id: str
    replica: int
    version: int


def post(actor: Actor, service: Service, path: str, body: str) -> Tried:
    """The caller has checked that the actor may see the service, and calls this only for who may call it.

    Raises `Invalid` beside `path`, `Conflict` while no replica is well, `Unavailable` where it does not answer.
    """
    if not PATH.fullmatch(path):
        raise Invalid.field("path", _("A path begins with / and has no spaces."))
    serving = selectors.serving(service.pk)
    attempt = None if serving is None else selectors.well(serving).order_by("?").first()
    if serving is None or attempt is None:
        raise Conflict(_("No replica of the service is ready."), hint=_("Start it, and wait until one is."))
    request_id = f"try-{uuid4().hex[:12]}"
    try:
        answer = ask(
            reach.endpoint_of(attempt.workload, attempt),
            "POST",
            path,
            body=body.encode(),
            headers={"Content-Type": "application/json", "X-Request-Id": request_id},
            timeout_s=min(LONGEST_S, serving.version.timeout_s),
        )
    except NoAnswer as error:
        raise Unavailable(_("The replica did not answer."), hint=_("Its log may say why.")) from error
    return Tried(answer, request_id, attempt.workload.replica_index or 0, serving.version.number)
