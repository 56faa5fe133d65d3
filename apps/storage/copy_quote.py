"""The line of a quote that says what has to be copied to the machine before the start."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from apps.clusters.dataset_caches import caching_nodes
from apps.common.actor import Actor
from apps.common.formatting import duration, file_size
from apps.storage import datasets
from apps.storage.choices import RootKind
from apps.storage.choosing import Chosen
from apps.storage.listings import copy_source
from apps.workloads.dataset_copies import CopyOutlook, copy_outlook


def with_copies(actor: Actor, card: dict[str, Any], chosen: Iterable[Chosen]) -> dict[str, Any]:
    """The card of `offers.quotecard` with that line, where machines that may take the work copy what is chosen."""
    outlook = quoted_copies(actor, chosen) if card.get("rows") else None
    return card if outlook is None else {**card, "rows": [*card["rows"], _row(outlook)]}


def quoted_copies(actor: Actor, chosen: Iterable[Chosen]) -> CopyOutlook | None:
    """What a machine may have to copy of what is chosen and may be mounted; None where none has to."""
    ids = [each.id for each in chosen if each.kind is RootKind.VERSION]
    versions = datasets.choosable(actor).filter(pk__in=ids, listing_sha256__isnull=False) if ids else []
    return copy_outlook([copy_source(each) for each in versions], caching_nodes()) if versions else None


def _row(outlook: CopyOutlook) -> dict[str, Any]:
    time = _("time not known yet") if outlook.seconds is None else _("about %(time)s") % {"time": _brief(outlook)}
    return {
        "label": _("Copied to the machine first"),
        "value": file_size(outlook.size),
        "icon": "database",
        "sub": _("%(time)s; free of charge, and at once where the machine has it") % {"time": time},
    }


def _brief(outlook: CopyOutlook) -> str:
    return duration(max(1.0, outlook.seconds or 0.0))
