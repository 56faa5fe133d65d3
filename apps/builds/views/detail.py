"""The list of builds, one build with its steps and its log, and its end."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.builds import selectors, services
from apps.builds.cache.emptying import use_of
from apps.builds.models import Build
from apps.builds.tables import BuildFilter, BuildTable
from apps.common.access import in_organisation
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.workloads.drivers.said import Code, Said
from apps.workloads.single_workload.pages import WorkPages
from apps.workloads.words import sentence


class BuildPages(WorkPages[Build]):
    room, called = "builds", "build"
    view, use = in_organisation(Permission.BUILDS_VIEW), in_organisation(Permission.IMAGES_USE)
    table, filters = BuildTable, BuildFilter

    def rows(self, actor: Actor) -> QuerySet[Build]:
        return selectors.builds(actor)

    def beside_list(self, actor: Actor) -> dict[str, Any]:
        return {"cache": use_of(actor)}

    def stop(self, actor: Actor, row: Build) -> None:
        services.stop(actor, row)

    def about(self, request: ActorRequest, row: Build) -> dict[str, Any]:
        told = selectors.result(row)
        return {
            "steps": row.steps,
            "stages": row.stages,
            "cached_steps": told.cached if told else 0,
            "failed": failed_step(row),
            "problem": problem_of(row),
            "equal": equal_of(request.actor, row),
            **sending_of(row),
        }

    def end_question(self, row: Build) -> dict[str, Any]:
        return {
            "title": _("Stop building %(name)s?") % {"name": row.title},
            "text": _("No image is made of it. What it held is released, and charging stops."),
            "lost": _("What its steps have done so far"),
            "kept": _("The log and the Containerfile"),
            "undo": _("No; it can be built again from the start"),
            "button": _("Stop the build"),
            "cancel": _("Keep building"),
            "asked": _("Asked to stop; it ends within seconds."),
        }

    def log_name(self, row: Build) -> str:
        return f"{row.name}-{row.version}.log"


def problem_of(build: Build) -> str:
    """Why what was built is no image; empty where it is one, or nobody tried."""
    if not build.problem:
        return ""
    said = Said.from_json(build.problem)
    if said.code is Code.NOTHING_CHANGED:
        return _("Its steps changed nothing: the base has all of it already, and can be used as it is.")
    return str(sentence(said))


def equal_of(actor: Actor, build: Build) -> dict[str, Any] | None:
    """What it waits for: `id` and `title` only of one that the actor may see; None where it waits for none."""
    leader = build.waits_for
    if leader is None or not build.is_held_back:
        return None
    if not selectors.builds(actor).filter(pk=leader.pk).exists():
        return {"title": ""}
    return {"id": leader.pk, "title": leader.title}


def sending_of(build: Build) -> dict[str, Any]:
    """`sending`: what is said while the image goes to the registry; `sent_percent` where that is known."""
    if not build.sending or not build.workload.is_live:
        return {"sending": "", "sent_percent": None}
    fraction = build.sending["fraction"]
    percent = None if fraction is None else round(100 * fraction)
    return {"sending": sentence(Said.from_json(build.sending["said"])), "sent_percent": percent}


def failed_step(build: Build) -> dict[str, Any] | None:
    """`line`, `text` and `status` of the step that failed; None where none did."""
    told = None if build.workload.is_live or build.image_id else selectors.result(build)
    if told is None or not told.failed:
        return None
    return {**build.steps[told.failed - 1], "number": told.failed, "status": told.status}
