"""How it goes with an image saving, and why it failed, in the reader's language."""

from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.formatting import sentences
from apps.registry.choices import SavingProblem as Problem
from apps.registry.choices import SavingStatus
from apps.registry.models import ImageSaving
from apps.workloads.drivers.said import Said
from apps.workloads.words import sentence

_WORDS: dict[Problem, tuple[str | Promise, str | Promise]] = {
    Problem.NOT_RUNNING: (
        gettext_lazy("It had ended before its machine could save it."),
        gettext_lazy("Start it, make the changes again, then save it while it runs."),
    ),
    Problem.NOT_SAVED: ("", ""),
    Problem.OVER_CAPACITY: (
        gettext_lazy(
            "It adds %(added)s to the image registry, and your organisation has used or reserved %(used)s of %(limit)s."
        ),
        gettext_lazy("Delete images that nobody needs, or ask the platform's administrators for more room."),
    ),
    Problem.REPOSITORY_GONE: (
        gettext_lazy("The repository %(repository)s was deleted meanwhile."),
        gettext_lazy("Save it again, into another repository or a new one of this name."),
    ),
    Problem.MAY_NOT_PUSH: (gettext_lazy("You may not, or no longer, push to this repository."), ""),
    Problem.TAG_TAKEN: (
        gettext_lazy("Somebody has pushed a version %(tag)s of it meanwhile, and versions are not overwritten."),
        gettext_lazy("Save it again with another tag."),
    ),
    Problem.NOT_TAKEN: ("", ""),
    Problem.TOO_LONG_AWAY: (
        gettext_lazy("The image registry, or the machine, could not be reached for %(hours)s hours."),
        gettext_lazy("Tell the platform's administrators, then save it again."),
    ),
    Problem.GAVE_UP: (gettext_lazy("It was tried %(count)s times."), gettext_lazy("Save it again.")),
}
_SIZES = frozenset({"added", "used", "limit"})


def problem_words(saving: ImageSaving) -> str:
    """Empty where nothing is wrong."""
    if not saving.problem:
        return ""
    message, hint = _WORDS[Problem(saving.problem)]
    params: dict[str, Any] = dict(saving.problem_params)
    shown = {name: filesizeformat(value) if name in _SIZES else value for name, value in params.items()}
    said = sentence(Said.from_json(saving.said)) if saving.said else ""
    return sentences(*filter(None, (said, str(message) % shown, hint)))


def progress_words(saving: ImageSaving) -> str:
    """What goes on now; empty once it has ended."""
    if not saving.is_open:
        return ""
    if saving.cancelled_by_id is not None:
        return _("It is being cancelled.")
    if saving.waits_since is not None:
        return _("The image registry, or the machine, cannot be reached now. It goes on by itself once it answers.")
    if saving.status == SavingStatus.QUEUED:
        return _("Its machine writes down what was changed: a few seconds, up to half a minute for large changes.")
    if saving.fraction is None or not saving.said:
        return _("It is about to be sent.")
    return sentence(Said.from_json(saving.said))
