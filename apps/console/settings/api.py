"""/api/v1/console/settings/: what the endpoints of all groups share, in the units that they are stored in."""

from dataclasses import asdict, replace
from typing import Any, ClassVar

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.changes.api_fields import ChangeRequestRef
from apps.billing.models import ChangeRequest
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.permissions import Permission as P
from apps.tenants import settings
from apps.tenants.settings import Group

VIEW = on_platform(P.PLATFORM_SETTINGS_VIEW)
MANAGE = on_platform(P.PLATFORM_SETTINGS_MANAGE)
TAGS = ["console: settings"]


def choices_of(values: Any) -> list[tuple[str, str]]:
    return [(each.value, each.value) for each in values]


class SettingsView(ScopedView):
    """One group. Secrets are written and never read; `<name>_set` says whether there is one."""

    access = {"get": VIEW, "patch": MANAGE}
    group: ClassVar[type[Group]]
    serializer: ClassVar[type[serializers.Serializer[Any]]]

    def get(self, request: Request) -> Response:
        return Response(self._shown(settings.get(self.group)))

    def patch(self, request: Request) -> Response:
        """What is left out stays as it is."""
        asked = self.serializer(data=request.data, partial=True)
        asked.is_valid(raise_exception=True)
        waits = self.put_group(self._changed(asked.validated_data))
        if waits is not None:
            return Response(ChangeRequestRef(waits).data, status=status.HTTP_202_ACCEPTED)
        return Response(self._shown(settings.get(self.group)))

    def put_group(self, value: Any) -> ChangeRequest | None:
        """Store the group; a request where a second person decides on it."""
        settings.put(self.actor, value)
        return None

    def _changed(self, values: dict[str, Any]) -> Group:
        lists = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        current: Any = settings.get(self.group)
        changed: Group = replace(current, **lists)
        return changed

    def _shown(self, value: Any) -> Any:
        stored = asdict(value)
        return self.serializer({**stored, **{f"{name}_set": bool(stored[name]) for name in stored}}).data
