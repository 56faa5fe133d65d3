"""A notice in words: what happened, what it means, where to go. Derived when read, in the reader's language."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.common.badges import Tone
from apps.notifications.models import Notice
from apps.notifications.words import (
    billing,
    bills,
    documents,
    environments,
    packages,
    people,
    platform,
    prepaid,
    recharges,
    runs,
    security,
    storage,
)
from apps.notifications.words.base import Data, Speaker, Words

__all__ = ["Words", "words", "words_of"]

_KINDS: Mapping[str, Speaker] = {
    **billing.KINDS,
    **bills.KINDS,
    **documents.KINDS,
    **runs.KINDS,
    **environments.KINDS,
    **storage.KINDS,
    **people.KINDS,
    **packages.KINDS,
    **recharges.KINDS,
    **security.KINDS,
    **platform.KINDS,
    **prepaid.KINDS,
}


def words(notice: Notice) -> Words:
    return words_of(notice.kind, notice.data)


def words_of(kind: str, data: Data) -> Words:
    """Words for the kind; one that this version does not know is named as it is."""
    known = _KINDS.get(kind)
    return known(data) if known else _unknown(kind)


def _unknown(kind: str) -> Words:
    text = _("This version has no words for it; its name is “%(kind)s”.") % {"kind": kind}
    return Words(_("Something happened"), text, Tone.STOP, "info-circle")
