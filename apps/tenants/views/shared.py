"""What the account's pages share: their tabs."""

from typing import Any, cast

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.tenants.models import User


def page(current: str, **context: Any) -> dict[str, Any]:
    """`context` of one of the account's pages, with the tabs above it."""
    tabs = {
        "account:profile": _("Profile"),
        "account:security": _("Security"),
        "account:tokens": _("API tokens"),
        "account:ssh_keys": _("SSH keys"),
        "account:connected": _("Connected accounts"),
        "account:organisations": _("Organisations and limits"),
        "notifications:preferences": _("Notifications"),
    }
    return {
        **context,
        "tabs": [
            {"label": label, "url": reverse(name), "current": name in (current, f"account:{current}")}
            for name, label in tabs.items()
        ],
    }


def user_of(request: HttpRequest) -> User:
    """The signed-in person; `requires` lets nobody else through."""
    return cast("User", request.user)
