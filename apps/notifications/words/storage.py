"""Words about stored data, images among it.

Data: `id`, `used`, `limit` (bytes), `files`, `most_files`, or `volume_id`, `dataset_id`; `name`, `number`.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.common.formatting import file_size, sentences
from apps.notifications.words.base import Data, Speaker, Words, link, name_in, number_in

VOLUME, DATASET, REPOSITORY = "storage:volume", "storage:dataset", "registry:repository"
MODEL_VERSION = "models:version"


def _full(data: Data) -> Words:
    title = _("The volume %(name)s is over its limit") % {"name": name_in(data, "name")}
    text = _("%(amounts)s New runs can only read it until it is below its limit. Delete files, or expand it.")
    text %= {"amounts": _amounts(data)}
    return Words(title, text, Tone.FAIL, "database", action=_("Open"), **link(data, VOLUME, "id"))


def _home_full(data: Data) -> Words:
    text = _("%(amounts)s Delete what is not needed, or move it to a volume.") % {"amounts": _amounts(data)}
    return Words(
        _("The files of an environment are over their limit"),
        text,
        Tone.FAIL,
        "folder",
        page="envs:list",
        action=_("Open"),
    )


def _amounts(data: Data) -> str:
    if number_in(data, "files") > number_in(data, "most_files"):
        counts = {"used": int(number_in(data, "files")), "limit": int(number_in(data, "most_files"))}
        return _("%(used)s files and folders are in it; %(limit)s fit in.") % counts
    used, most = file_size(int(number_in(data, "used"))), file_size(int(number_in(data, "limit")))
    return _("%(used)s are in use of %(limit)s.") % {"used": used, "limit": most}


def _shared(data: Data) -> Words:
    title = _("%(by)s shares the volume %(name)s with you") % {
        "by": name_in(data, "by"),
        "name": name_in(data, "name"),
    }
    text = _("It stands among your volumes.")
    return Words(title, text, Tone.WAIT, "share", action=_("Open"), **link(data, VOLUME, "volume_id"))


def _received(data: Data) -> Words:
    """Data: `by` (the organisation), `name`, `repository_id`, `note`, `until` (a day, or "")."""
    names = {"by": name_in(data, "by"), "name": name_in(data, "name"), "day": name_in(data, "until")}
    title = _("%(by)s shares the repository %(name)s with your organisation") % names
    text = _("Everybody in your organisation may pull its images and start work in them.")
    if data.get("until"):
        text = _("Until %(day)s everybody in your organisation may pull its images and start work in them.") % names
    told = sentences(text, name_in(data, "note"))
    return Words(title, told, Tone.WAIT, "share", action=_("Open"), **link(data, REPOSITORY, "repository_id"))


def _share_ended(data: Data) -> Words:
    """Data: `by` (the organisation), `name`, `why`."""
    names = {"by": name_in(data, "by"), "name": name_in(data, "name")}
    title = _("%(by)s no longer shares the repository %(name)s") % names
    text = _("What runs in its images goes on. What waits, or starts later, does not start in them.")
    if data.get("why") == "deleted":
        text = _("The repository was deleted. Nothing starts in its images any more.")
    return Words(title, text, Tone.WARN, "share", page="registry:received_shares", action=_("Shared with us"))


def _share_declined(data: Data) -> Words:
    """Data: `by` (the organisation), `name`, `repository_id`."""
    names = {"by": name_in(data, "by"), "name": name_in(data, "name")}
    title = _("%(by)s has declined your repository %(name)s") % names
    text = _("Nobody there sees it or uses it now. They may accept it later.")
    return Words(title, text, Tone.STOP, "share", action=_("Open"), **link(data, REPOSITORY, "repository_id"))


def _ready(data: Data) -> Words:
    text = _("It can be mounted and downloaded.")
    return Words(_version(data, _("%(name)s, version %(number)s, is ready")), text, Tone.RUN, "database", **_open(data))


def _failed(data: Data) -> Words:
    text = name_in(data, "text", _("Nothing was kept of it. Its page says why."))
    title = _version(data, _("%(name)s, version %(number)s, could not be made"))
    return Words(title, text, Tone.FAIL, "circle-x", **_open(data))


def _model_ready(data: Data) -> Words:
    text = _("It can be downloaded, and work can mount it.")
    title = _version(data, _("The model %(name)s, version %(number)s, is ready"))
    return Words(title, text, Tone.RUN, "box", action=_("Open"), **link(data, MODEL_VERSION, "version_id"))


def _model_failed(data: Data) -> Words:
    text = name_in(data, "text", _("Nothing was kept of it. Its page says why."))
    title = _version(data, _("The model %(name)s, version %(number)s, could not be copied"))
    return Words(title, text, Tone.FAIL, "circle-x", action=_("Open"), **link(data, MODEL_VERSION, "version_id"))


def _review_asked(data: Data) -> Words:
    """Data: `by`, `reason`."""
    title = _version(data, _("The model %(name)s, version %(number)s, is proposed for production"))
    asked = _("Asked for by %(by)s.") % {"by": name_in(data, "by")}
    text = sentences(asked, name_in(data, "reason"))
    return Words(title, text, Tone.WAIT, "box", action=_("Review"), **link(data, MODEL_VERSION, "version_id"))


def _review_decided(data: Data) -> Words:
    """Data: `by`, `approved`, `answer`."""
    approved = bool(data.get("approved"))
    title = _("The model %(name)s, version %(number)s, is in production")
    if not approved:
        title = _("The model %(name)s, version %(number)s, was not approved for production")
    decided = _("Decided by %(by)s.") % {"by": name_in(data, "by")}
    text = sentences(decided, name_in(data, "answer"))
    tone = Tone.RUN if approved else Tone.WARN
    return Words(_version(data, title), text, tone, "box", action=_("Open"), **link(data, MODEL_VERSION, "version_id"))


def _version(data: Data, title: str) -> str:
    return title % {"name": name_in(data, "name"), "number": int(number_in(data, "number"))}


def _open(data: Data) -> dict[str, Any]:
    return {"action": _("Open"), **link(data, DATASET, "dataset_id")}


KINDS: Mapping[str, Speaker] = {
    "storage.volume_over_limit": _full,
    "storage.home_over_limit": _home_full,
    "volume.shared": _shared,
    "image.share_received": _received,
    "image.share_ended": _share_ended,
    "image.share_declined": _share_declined,
    "dataset.ready": _ready,
    "dataset.failed": _failed,
    "model.ready": _model_ready,
    "model.failed": _model_failed,
    "model.review_asked": _review_asked,
    "model.review_decided": _review_decided,
}
