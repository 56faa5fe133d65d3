"""What a page says of an end, and that of work that was not started because a right had ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.formatting import duration
from apps.secrets.choices import Lost
from apps.workloads.choices import RightLost
from apps.workloads.drivers.said import Code, Said
from apps.workloads.models import Workload
from apps.workloads.words import recorded, sentence


@dataclass(frozen=True, slots=True)
class Advice:
    """The sentences of a failure card: title, what happened, whose matter, what to try."""

    title: str
    text: str
    verdict: str
    fixes: tuple[str, ...] = ()


def unauthorised(workload: Workload) -> Advice:
    lost = workload.reason_data.get("lost")
    fix = _("An administrator can give the right back, then it can be run again.")
    if lost == RightLost.IMAGE_SHARE:
        fix = _("Run it again in another image, or ask the organisation that owns this one to share it again.")
    return Advice(
        _("Not started: its owner may not run it any more"),
        str(RightLost(lost).label) if lost in RightLost.values else "",
        _still_charged(workload),
        (fix,),
    )


def mount_lost(workload: Workload) -> Advice:
    return Advice(
        _("Not started: its owner may not use its files any more"),
        _lost_mount(workload.reason_data),
        _still_charged(workload),
        (_("Ask whoever owns it to share it again, or run this again without it."),),
    )


def secret_lost(workload: Workload) -> Advice:
    data = workload.reason_data
    gone = data.get("lost") == Lost.DELETED
    told = _("The secret %(name)s was deleted.") if gone else _("Its owner may not use the secret %(name)s any more.")
    return Advice(
        _("Not started: a secret that it needs is missing"),
        told % {"name": data.get("name", "")},
        _still_charged(workload),
        (_("Clone it and choose a secret that you may use, or run it without one."),),
    )


def image_blocked(workload: Workload) -> Advice:
    data = workload.reason_data
    if data.get("cause") == "unscanned":
        told = _("Its image has not been scanned for known vulnerabilities, and the policy starts only what was.")
        fix = _("Have the image scanned on its page, then run this again.")
    else:
        count = data.get("count", 0)
        words = ngettext(
            "Its image has %(count)s known vulnerability that the policy does not let start.",
            "Its image has %(count)s known vulnerabilities that the policy does not let start.",
            count,
        )
        told = words % {"count": count}
        fix = _("Run it again in a version of the image with newer packages.")
    whose = _("The policy is the platform's: its administrators can make an exception.")
    if not data.get("by_operator"):
        whose = _("The policy is your organisation's: who manages its images can make an exception.")
    return Advice(_("Not started: its image is not allowed"), told, _still_charged(workload), (fix, whose))


def time_over(workload: Workload) -> Advice:
    return Advice(
        _("Stopped: it reached its longest run time of %(time)s") % {"time": _longest(workload)},
        _("It was asked to save and end, as was set when it was started. Everything that it had written is kept."),
        "",
        (_("Run it again with a longer time, or without one."),),
    )


def _longest(workload: Workload) -> str:
    """Of when it was stopped."""
    return duration(workload.reason_data.get("longest_s", workload.longest_s))


def gpu_idle(workload: Workload) -> Advice:
    minutes = workload.reason_data.get("minutes", workload.gpu_idle_minutes)
    return Advice(
        _("Stopped: its GPU was not used for %(time)s") % {"time": duration(60 * (minutes or 0))},
        _("It was asked to save and end, as was set when it was started. Everything that it had written is kept."),
        "",
        (_("See in its log what the program waited for; a package without a GPU costs less for that."),),
    )


def _lost_mount(data: Mapping[str, Any]) -> str:
    names = {"name": data.get("name", "")}
    if data.get("kind") == "version":
        return _("Its owner may not read the dataset “%(name)s” any more.") % names
    if data.get("kind") == "model":
        return _("Its owner may not read the model “%(name)s” any more.") % names
    if data.get("right") == "write":
        return _("Its owner may not write to the volume “%(name)s” any more.") % names
    return _("Its owner may not read the volume “%(name)s” any more.") % names


def _still_charged(workload: Workload) -> str:
    if workload.reason_data.get("ran"):
        return _("It was not started again. What it ran before is charged, and everything that it had written is kept.")
    return _("It never ran, so nothing was charged.")


OF_CONTAINER_IMAGES = frozenset(
    {
        Code.REGISTRY_UNREACHABLE, Code.REGISTRY_REFUSES, Code.IMAGE_NOT_THERE, Code.IMAGE_DAMAGED,
        Code.IMAGE_UNREADABLE, Code.IMAGE_OTHER_MACHINE, Code.IMAGE_TOO_MANY_LAYERS, Code.IMAGE_TOO_LARGE,
        Code.IMAGE_TOO_MANY_FILES, Code.IMAGE_HOSTILE, Code.IMAGE_NEEDS_ZSTD, Code.IMAGE_NO_ROOM, Code.PULL_FAILED,
        Code.IMAGE_NOT_PULLED, Code.IMAGE_REGISTRY_AWAY, Code.IMAGE_DENIED, Code.IMAGE_ABSENT,
        Code.NOT_IN_IMAGE, Code.NO_SHELL_IN_IMAGE, Code.NO_COMMAND,
    }
)  # fmt: skip


def container_image(said: Said) -> Advice:
    """Of work that could not be started in its container image, for what its driver said."""
    return Advice(
        _("Failed: the container image could not be used"),
        sentence(said),
        _("The program had not started. Nothing was charged."),
        (_("Choose another image, or tell the platform's administrators."),),
    )


def mount_failed(workload: Workload) -> Advice:
    return Advice(
        _("Failed: its files could not be made ready"),
        recorded(workload.reason_data),
        _("It had not started yet. Nothing was charged, and nothing that was saved before is changed."),
        (_("Run it again; if it fails again, tell the platform's administrators."),),
    )
