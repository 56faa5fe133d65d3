"""A notice in words: what happened, what it means, where to go. Derived when read, in the reader's language."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.notifications.models import Notice
from apps.notifications.words import (
    billing,
    bills,
    documents,
    packages,
    people,
    platform,
    prepaid,
    recharges,
    security,
    storage,
)
from apps.notifications.words.base import Data, Speaker, Words

__all__ = ["Speaker", "Words", "silence", "speak", "words", "words_of"]

_KINDS: dict[str, Speaker] = {
    **billing.KINDS,
    **bills.KINDS,
    **documents.KINDS,
    **storage.KINDS,
    **people.KINDS,
    **packages.KINDS,
    **recharges.KINDS,
    **security.KINDS,
    **platform.KINDS,
    **prepaid.KINDS,
}


def speak(speakers: Mapping[str, Speaker]) -> None:
    """Words for the notices that a kind of work brings, by their names."""
    _KINDS.update(speakers)


def silence(subject: str) -> None:
    """Forget the words for `<subject>.…`."""
    for name in [name for name in _KINDS if name.startswith(f"{subject}.")]:
        del _KINDS[name]


def words(notice: Notice) -> Words:
    return words_of(notice.kind, notice.data)


def words_of(kind: str, data: Data) -> Words:
    """Words for the kind; one that this version does not know is named as it is."""
    known = _KINDS.get(kind)
    return known(data) if known else _unknown(kind)


def _unknown(kind: str) -> Words:
    text = _("This version has no words for it; its name is “%(kind)s”.") % {"kind": kind}
    return Words(_("Something happened"), text, Tone.STOP, "info-circle")
