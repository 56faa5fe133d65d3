"""Context of every page: what the installation is called, and how many notices are unread."""

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from apps.notifications.branding import BrandingSettings
from apps.tenants import settings


def brand(request: HttpRequest) -> dict[str, Any]:
    """`brand`: `name`, `logo` and `icon` (paths, empty: the product's own) of the portal that the page belongs to."""
    return {"brand": SimpleLazyObject(lambda: _brand(request))}


def _brand(request: HttpRequest) -> dict[str, str]:
    chosen = settings.get(BrandingSettings)
    own = chosen.console if request.path.startswith("/console/") else chosen.portal
    return {"name": own.name, "logo": own.logo, "icon": chosen.icon}
