"""DRF's permission check. Apart from `api`: DRF loads it while its own views are still being imported."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.common.access import Realm


class DeclaredAccess(BasePermission):
    """A view without a declared access is refused; a public one passes; all others need a signed-in person.

    Which permission the person needs is checked when `ScopedView` builds the actor.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        access = getattr(view, "declared_access", lambda: None)()
        if access is None:
            return False
        return access.realm is Realm.PUBLIC or bool(request.user and request.user.is_authenticated)
