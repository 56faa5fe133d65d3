"""The settings pages and the navigation between them."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """One page: the name of its URL below `console:` and its label."""

    name: str
    label: str | Promise


PAGES = (
    SettingsPage("settings_registration", _("Registration")),
    SettingsPage("settings_sign_in", _("Signing in")),
    SettingsPage("settings_review", _("Package review")),
    SettingsPage("settings_payment", _("Payment")),
    SettingsPage("settings_options", _("Options")),
    SettingsPage("settings_queue", _("Queue")),
    SettingsPage("settings_run_times", _("Run times")),
    SettingsPage("settings_nodes", _("Nodes")),
    SettingsPage("settings_sources", _("Software sources")),
    SettingsPage("settings_image_scans", _("Image scans")),
    SettingsPage("settings_image_sharing", _("Image sharing")),
    SettingsPage("settings_notifications", _("Notifications")),
    SettingsPage("settings_branding", _("Branding and language")),
)


def tabs(current: str) -> list[dict[str, Any]]:
    """`current` is the name of the page shown."""
    return [
        {"label": page.label, "url": reverse(f"console:{page.name}"), "current": page.name == current} for page in PAGES
    ]
