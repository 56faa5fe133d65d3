"""Words about sets of replicas: one has ended, serves with fewer, or has a replica that keeps ending.

Data: `name` of the set, `reason` (of the workloads'), `by` (who ended it), `wanted` and `before` (how many replicas),
`replica` (the name of one), `times` (how often it ended in a row), `workload_id` (of one replica, for the link).
"""

from collections.abc import Mapping
from dataclasses import replace

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.common.badges import Tone
from apps.common.formatting import sentences
from apps.notifications.choices import Topic
from apps.notifications.kinds import Kind
from apps.notifications.words.base import Data, Speaker, Words, link, name_in, number_in

Labels = Mapping[str, str | Promise]
"""By reason, what is said of it."""

ENDED, SMALLER, FAILING = "set_ended", "set_smaller", "set_failing"


def of_sets(page: str, reasons: Labels) -> dict[str, Speaker]:
    """What the owner of a set is told, by the second part of the notice's name; each leads to `page` of a replica."""

    def ended(data: Data) -> Words:
        title = _("All replicas of %(name)s were stopped") % {"name": name_in(data, "name")}
        text = sentences(_cause(data, reasons), _("None of them is replaced; start it again when it is to serve."))
        return Words(title, text, Tone.FAIL, "circle-x")

    def smaller(data: Data) -> Words:
        wanted, before = int(number_in(data, "wanted")), int(number_in(data, "before"))
        said = ngettext(
            "%(name)s has %(wanted)s replica in place of %(before)s",
            "%(name)s has %(wanted)s replicas in place of %(before)s",
            wanted,
        )
        title = said % {"name": name_in(data, "name"), "wanted": wanted, "before": before}
        text = sentences(_cause(data, reasons), _("The others serve on. Scale it up when it is to have more again."))
        return Words(title, text, Tone.WARN, "alert-triangle")

    speakers: dict[str, Speaker] = {ENDED: ended, SMALLER: smaller, FAILING: lambda data: _failing(data, reasons)}
    return {what: _leading_to(page, speaker) for what, speaker in speakers.items()}


def kinds_of_sets(subject: str, topic: Topic) -> tuple[Kind, ...]:
    """To be declared by a kind of work that has replicas."""
    labels = {
        ENDED: gettext_lazy("All replicas of a set stopped"),
        SMALLER: gettext_lazy("Set has fewer replicas"),
        FAILING: gettext_lazy("Replica keeps ending"),
    }
    return tuple(Kind(f"{subject}.{what}", topic, label) for what, label in labels.items())


def _failing(data: Data, reasons: Labels) -> Words:
    names = {"replica": name_in(data, "replica"), "times": int(number_in(data, "times"))}
    title = _("%(name)s keeps failing") % {"name": name_in(data, "name")}
    said = _("%(replica)s has ended %(times)s times in a row soon after its start.") % names
    text = sentences(
        said, _cause(data, reasons), _("It is started again after a pause each time; its log says what is wrong.")
    )
    return Words(title, text, Tone.FAIL, "alert-triangle")


def _cause(data: Data, reasons: Labels) -> str:
    """Empty for a reason that this version does not know."""
    if data.get("by"):
        return _("%(person)s stopped them.") % {"person": name_in(data, "by")}
    label = reasons.get(name_in(data, "reason", ""))
    return _("Cause: %(cause)s.") % {"cause": label} if label else ""


def _leading_to(page: str, speaker: Speaker) -> Speaker:
    def said(data: Data) -> Words:
        return replace(speaker(data), action=_("Open"), **link(data, page, "workload_id"))

    return said
