"""The text of a notice: what happened, what it means, where to go. Made when read, in the reader's language."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.notifications.models import Notice
from apps.notifications.words import (
    billing,
    bills,
    changes,
    documents,
    experiments,
    images,
    packages,
    people,
    pipelines,
    platform,
    prepaid,
    recharges,
    schedules,
    security,
    storage,
)
from apps.notifications.words.base import Data, Speaker, Words

__all__ = ["Speaker", "Words", "register_words", "unregister_words", "words", "words_of"]

_KINDS: dict[str, Speaker] = {
    **billing.KINDS,
    **bills.KINDS,
    **changes.KINDS,
    **documents.KINDS,
    **experiments.KINDS,
    **pipelines.KINDS,
    **images.KINDS,
    **storage.KINDS,
    **people.KINDS,
    **packages.KINDS,
    **recharges.KINDS,
    **schedules.KINDS,
    **security.KINDS,
    **platform.KINDS,
    **prepaid.KINDS,
}


def register_words(speakers: Mapping[str, Speaker]) -> None:
    """Register the texts of a kind's notices, by their names."""
    _KINDS.update(speakers)


def unregister_words(subject: str) -> None:
    """Unregister the texts for `<subject>.…`."""
    for name in [name for name in _KINDS if name.startswith(f"{subject}.")]:
        del _KINDS[name]


def words(notice: Notice) -> Words:
    return words_of(notice.kind, notice.data)


def words_of(kind: str, data: Data) -> Words:
    """The text for a kind; an unknown kind is shown by its name."""
    known = _KINDS.get(kind)
    return known(data) if known else _unknown(kind)


def _unknown(kind: str) -> Words:
    text = _("This version has no words for it; its name is “%(kind)s”.") % {"kind": kind}
    return Words(_("Something happened"), text, Tone.STOP, "info-circle")
