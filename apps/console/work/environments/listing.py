"""The list of environments across organisations."""

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.permissions import Permission as P
from apps.common.tables import FULL, column
from apps.envs.choices import LIVE_STATES, State
from apps.envs.models import Environment
from apps.envs.showing import Shown
from apps.envs.tables import EnvironmentTable


class ConsoleEnvironmentTable(EnvironmentTable):
    caption = _("Environments of all organisations")
    export = "all_environments"
    organisation = tables.TemplateColumn(
        '{{ record.organisation.name }}<span class="pl-sub">{{ record.owner.display_name }}</span>',
        verbose_name=_("Organisation and owner"),
        order_by=("organisation__name",),
        attrs=column("pl-inline", width=FULL),
    )

    class Meta(EnvironmentTable.Meta):
        sequence = ("name", "state", "organisation", "package", "snapshot_at", "expires_at", "rate", "actions")
        exclude = ("use",)
        row_attrs: dict[str, Any] = {"data-href": lambda record: _page(record) or None}

    def more(self, name: str, record: Environment, shown: Shown) -> dict[str, Any]:
        """Staff see what runs and rule it; what people keep inside is not theirs to open."""
        items = _menu(self.request.actor, record, shown) if name == "actions" else []
        return {"opens": [], "items": items, "own": False, "url": _page(record)}


def _page(record: Environment) -> str:
    """The newest start's page; one that was never started has none."""
    return reverse("console:workload", args=[record.workload_id]) if record.workload_id else ""


def _menu(actor: Actor, record: Environment, shown: Shown) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if record.workload_id:
        items.append({"label": _("Newest start"), "icon": "arrow-right", "url": _page(record)})
    if not actor.may(P.PLATFORM_WORKLOADS_MANAGE):
        return items
    if shown.state is State.BINNED:
        items.append(_ask(record, "restore", _("Restore…"), "restore"))
        items.append({**_ask(record, "purge", _("Remove for good…"), "trash-x"), "danger": True})
        return items
    if shown.state in LIVE_STATES - {State.STOPPING}:
        items.append({**_ask(record, "stop", _("Stop…"), "player-stop"), "danger": True})
    items.append({**_ask(record, "delete", _("Move to the recycle bin…"), "trash"), "danger": True})
    return items


def _ask(record: Environment, name: str, label: Any, icon: str) -> dict[str, Any]:
    return {"label": label, "icon": icon, "hx_get": reverse("console:environment_act", args=[record.pk, name])}
