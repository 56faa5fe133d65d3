"""Words about services. Data: `workload_id` (of a replica), `service`, `version`, `name`, and that of sets and work."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.badges import Tone
from apps.common.formatting import sentences
from apps.notifications.choices import Topic
from apps.notifications.kinds import Kind
from apps.notifications.services import notify_user
from apps.notifications.words import sets, work
from apps.notifications.words.base import Data, Speaker, Words, link, name_in, number_in
from apps.serving.choices import Ending
from apps.serving.models import Deployment
from apps.workloads.choices import Reason

SUBJECT = "service"
PAGE = "serving:of_workload"
SERVES, FAILED, WENT_BACK = "serves", "update_failed", "went_back"


def tell_serving(deployment: Deployment, *, is_update: bool) -> None:
    _tell(deployment, SERVES, {"is_update": is_update})


def tell_failed(deployment: Deployment, *, still_serves: bool) -> None:
    _tell(deployment, FAILED, {"reason": str(deployment.reason), "still_serves": still_serves})


def tell_went_back(deployment: Deployment, to: int, percent: int, *, is_begun: bool) -> None:
    """`percent` of the answers of the deployment failed. `is_begun`: version `to` gets ready."""
    _tell(deployment, WENT_BACK, {"to": to, "percent": percent, "is_begun": is_begun})


def _tell(deployment: Deployment, what: str, data: dict[str, Any]) -> None:
    replica = deployment.replica_set.replicas.order_by("-created_at", "-pk").first()
    notify_user(
        organisation_id=deployment.organisation_id,
        user_id=deployment.service.owner_id,
        kind=f"{SUBJECT}.{what}",
        data={
            **({"workload_id": str(replica.pk)} if replica is not None else {}),
            "service": str(deployment.service_id),
            "name": deployment.service.name,
            "version": deployment.version.number,
            **data,
        },
        dedup=f"{what}:{deployment.pk}",
    )


def _serves(data: Data) -> Words:
    names = {"name": name_in(data, "name"), "version": int(number_in(data, "version"))}
    title = (_("%(name)s serves version %(version)s") if data.get("is_update") else _("%(name)s is ready")) % names
    text = _("The version before finishes its requests and ends.") if data.get("is_update") else ""
    return Words(title, text, Tone.RUN, "circle-check", action=_("Open"), **link(data, PAGE, "workload_id"))


def _failed(data: Data) -> Words:
    names = {"name": name_in(data, "name"), "version": int(number_in(data, "version"))}
    why = dict(Ending.choices).get(str(data.get("reason")), "")
    still = _("The version before serves on; nothing was interrupted.") if data.get("still_serves") else ""
    title = _("Version %(version)s of %(name)s did not become ready") % names
    return Words(
        title, sentences(why, still), Tone.FAIL, "circle-x", action=_("See why"), **link(data, PAGE, "workload_id")
    )


def _went_back(data: Data) -> Words:
    names = {
        "name": name_in(data, "name"),
        "version": int(number_in(data, "version")),
        "to": int(number_in(data, "to")),
        "percent": int(number_in(data, "percent")),
    }
    title = _("%(percent)s %% of the answers of %(name)s fail since version %(version)s") % names
    if data.get("is_begun"):
        text = _("Version %(to)s gets ready and takes over again.") % names
    else:
        text = _("Version %(to)s could not be started by itself: quota, balance or rights do not allow it.") % names
    return Words(title, text, Tone.FAIL, "circle-x", action=_("See why"), **link(data, PAGE, "workload_id"))


SPEAKERS: Mapping[str, Speaker] = {
    **work.of_work(PAGE, queued_again=gettext_lazy("It is charged up to the last proof that it ran. It starts anew.")),
    **sets.of_sets(PAGE, dict(Reason.choices)),
    SERVES: _serves,
    FAILED: _failed,
    WENT_BACK: _went_back,
}
DECLARED = (
    Kind(f"{SUBJECT}.{SERVES}", Topic.RUNS, gettext_lazy("Service ready or updated")),
    Kind(f"{SUBJECT}.{FAILED}", Topic.RUNS, gettext_lazy("Service did not become ready")),
    Kind(f"{SUBJECT}.{WENT_BACK}", Topic.RUNS, gettext_lazy("Service goes back to the version before")),
    *sets.kinds_of_sets(SUBJECT, Topic.RUNS),
)
