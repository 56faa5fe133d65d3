"""Why an image did not come, in the reader's language."""

from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.common.formatting import sentences
from apps.registry.choices import TransferProblem as Problem
from apps.registry.models import ImageTransfer

_WORDS: dict[Problem, tuple[str | Promise, str | Promise]] = {
    Problem.NOT_THERE: (
        _("%(host)s has no such image, or does not show it to you."),
        _("Check repository and tag; a private image needs user name and password."),
    ),
    Problem.NO_RIGHT: (
        _("%(host)s does not give it out (it answers %(status)s)."),
        _("Check user name and password or token, and whether they may pull this repository."),
    ),
    Problem.SOURCE_REFUSES: (_("%(host)s answers with an error (%(status)s)."), _("Try again later.")),
    Problem.OTHER_ARCHITECTURE: (
        _("It is for %(offered)s, not for %(wanted)s."),
        _("Choose a platform that it is for, or all of them."),
    ),
    Problem.ADDRESS_REFUSED: (
        _("The platform does not connect to where %(host)s leads: the name is not known, its address is not a public "
          "one, or its port is none that may be used."),
        _("The platform's administrators can allow single hosts."),
    ),
    Problem.CERTIFICATE: (
        _("The certificate of %(host)s cannot be trusted: %(reason)s."),
        _("The platform's administrators can trust another authority in the settings of software sources."),
    ),
    Problem.INTERRUPTED: (
        _("The connection to %(host)s broke off and could not be made again: %(reason)s."),
        _("Pull it again; layers that came whole are not fetched twice."),
    ),
    Problem.OVER_CAPACITY: (
        _("It adds %(added)s to the image registry, and your organisation has used or reserved %(used)s of %(limit)s."),
        _("Delete images that nobody needs, or ask the platform's administrators for more room."),
    ),
    Problem.TOO_LARGE: (_("It has %(size)s; %(most_size)s is the most."), ""),
    Problem.TOO_MANY_LAYERS: (_("It has %(count)s layers; %(most)s are the most."), ""),
    Problem.TOO_MANY_IMAGES: (
        _("Its index names %(count)s images; %(most)s are the most."), _("Choose one platform."),
    ),
    Problem.UNREADABLE: (_("It is not an image that the platform can read: %(reason)s."), ""),
    Problem.DAMAGED: (_("What %(host)s sends is not what its digest says."), _("Tell who runs it.")),
    Problem.DISK_FULL: (_("The platform's disk has no room for it now."), _("Tell the platform's administrators.")),
    Problem.REGISTRY_AWAY: (_("The platform's image registry did not answer for minutes."), _("Try again later.")),
    Problem.MAY_NOT_PUSH: (_("You may not, or no longer, push to this repository."), ""),
    Problem.GAVE_UP: (_("It was begun %(count)s times and ended each time without getting further."), ""),
    Problem.NOT_AN_ARCHIVE: (
        _("The file is no tar archive, or is packed in a way that the platform does not read."),
        _("Upload what “docker save” or an OCI tool writes: a .tar, also with gzip or zstd."),
    ),
    Problem.NO_IMAGE: (
        _("There is no image in the archive: it has neither an index.json nor a manifest.json that names one."),
        _("“docker export” writes the files of a container, not an image; “docker save” writes one."),
    ),
    Problem.TRUNCATED: (
        _("The archive ends too early, or is damaged."), _("Write it again, and compare its size before you upload it.")
    ),
    Problem.INCOMPLETE: (
        _("The archive lacks %(name)s, which its image names."),
        _("If it was saved for one architecture alone, choose that architecture; otherwise write it again."),
    ),
    Problem.WRONG_DIGEST: (
        _("%(name)s in the archive is not what its digest says."),
        _("The archive is damaged or was changed: write it again."),
    ),
    Problem.HOSTILE: (_("There is something in the archive that no image has: %(reason)s."), ""),
    Problem.BOMB: (_("It unpacks to more than %(most_size)s, which is the most."), ""),
    Problem.LEFT_ALONE: (
        _("Nobody went on with it for %(hours)s hours."), _("Upload the archive again."),
    ),
    Problem.TOO_SLOW: (
        _("It took longer than %(hours)s hours."),
        _("Pull it again; layers that came whole are not fetched twice."),
    ),
}  # fmt: skip
_SIZES = frozenset({"added", "used", "limit", "size", "most_size"})


def problem_words(transfer: ImageTransfer) -> str:
    """Empty where nothing is wrong."""
    if not transfer.problem:
        return ""
    message, hint = _WORDS[Problem(transfer.problem)]
    params: dict[str, Any] = dict(transfer.problem_params)
    shown = {name: filesizeformat(value) if name in _SIZES else value for name, value in params.items()}
    return sentences(str(message) % shown, hint)
