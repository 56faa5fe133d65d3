"""Sections of the settings and every single option in them, found by what they are called in either language."""

from collections.abc import Iterable, Mapping

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.query import Query, Rank
from apps.common.finding.sources import Hit, Source, best
from apps.common.finding.words import in_both_languages
from apps.common.permissions import Permission
from apps.console.settings import (
    branding,
    image_sharing,
    nodes,
    notifications,
    options,
    payment,
    queue,
    review,
    scanning,
    sign_in,
)
from apps.console.settings.forms import SettingsForm
from apps.console.settings.pages import PAGES

# The forms of each page by their prefix.
FORMS: Mapping[str, Mapping[str, type[SettingsForm]]] = {
    "settings_registration": {"": options.RegistrationForm},
    "settings_sign_in": sign_in.FORMS,
    "settings_review": {"": review.ReviewForm},
    "settings_payment": payment.FORMS,
    "settings_options": {"": options.OptionsForm},
    "settings_queue": {"": queue.QueueForm},
    "settings_nodes": {"": nodes.NodesForm},
    "settings_image_scans": {"": scanning.ScansForm},
    "settings_image_sharing": {"": image_sharing.ImageSharingForm},
    "settings_notifications": notifications.FORMS,
    "settings_branding": {"": branding.BrandingForm},
}


def _find(actor: Actor, query: Query) -> Iterable[Hit]:
    actor.require(Permission.PLATFORM_SETTINGS_VIEW)
    found = []
    for page in PAGES:
        url = reverse(f"console:{page.name}")
        rank = query.rank(*in_both_languages(page.label))
        if rank is not None:
            found.append(Hit(str(page.label), url, rank))
        found += _options(query, page.label, page.name, url)
    return best(found)


def _options(query: Query, section: object, page: str, url: str) -> Iterable[Hit]:
    for prefix, form in FORMS.get(page, {}).items():
        for name, field in form.base_fields.items():
            rank = query.rank(*in_both_languages(field.label))
            if rank is not None:
                place = f"id_{prefix}-{name}" if prefix else f"id_{name}"
                yield Hit(str(field.label), f"{url}#{place}", max(rank, Rank.PREFIX), str(section))


SETTINGS = Source(
    name="settings",
    label=_("Settings"),
    icon="settings",
    console=Permission.PLATFORM_SETTINGS_VIEW,
    find=_find,
)
