"""What the account's pages share: their tabs."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _


def page(current: str, **context: Any) -> dict[str, Any]:
    """`context` of one of the account's pages, with the tabs above it."""
    tabs = {"profile": _("Profile"), "security": _("Security"), "organisations": _("Organisations and limits")}
    return {
        **context,
        "tabs": [
            {"label": label, "url": reverse(f"account:{name}"), "current": name == current}
            for name, label in tabs.items()
        ],
    }
