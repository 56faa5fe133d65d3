"""Volumes and datasets across organisations."""

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.markup import menu
from apps.common.permissions import Permission as P
from apps.common.tables import FULL, column
from apps.storage.models import Dataset, Volume
from apps.storage.tables import DatasetTable, VolumeTable


def _organisation() -> tables.TemplateColumn:
    return tables.TemplateColumn(
        '{{ record.organisation.name }}<span class="pl-sub">{{ record.owner.display_name }}</span>',
        verbose_name=_("Organisation and owner"),
        order_by=("organisation__name",),
        attrs=column("pl-inline", width=FULL),
    )


class _Ruled:
    """Staff see how much there is and rule it; what people keep inside is not theirs to open."""

    def render_actions(self, record: Volume | Dataset) -> str:
        items = _menu(self.request.actor, record)  # type: ignore[attr-defined]
        return menu(record.name, items) if items else ""


class ConsoleVolumeTable(_Ruled, VolumeTable):
    caption = _("Volumes of all organisations")
    export = "all_volumes"
    name = tables.TemplateColumn(template_name="console/cells/stored_name.html", attrs=column(width=FULL))
    organisation = _organisation()
    actions = tables.Column(accessor="pk", verbose_name="", orderable=False, attrs=column("pl-corner", numeric=True))

    class Meta(VolumeTable.Meta):
        sequence = ("name", "organisation", "used_bytes", "size_mib", "created_at", "actions")
        exclude = ("owner",)
        row_attrs: dict[str, Any] = {}


class ConsoleDatasetTable(_Ruled, DatasetTable):
    caption = _("Datasets of all organisations")
    export = "all_datasets"
    name = tables.TemplateColumn(template_name="console/cells/stored_name.html", attrs=column(width=FULL))
    organisation = _organisation()
    actions = tables.Column(accessor="pk", verbose_name="", orderable=False, attrs=column("pl-corner", numeric=True))

    class Meta(DatasetTable.Meta):
        sequence = ("name", "organisation", "newest", "created_at", "actions")
        exclude = ("owner",)
        row_attrs: dict[str, Any] = {}


def _menu(actor: Actor, thing: Volume | Dataset) -> list[dict[str, Any]]:
    if not actor.may(P.PLATFORM_STORAGE_MANAGE):
        return []
    if thing.deleted_at is not None:
        return [
            _ask(thing, "restore", _("Restore…"), "restore"),
            {**_ask(thing, "purge", _("Remove for good…"), "trash-x"), "danger": True},
        ]
    size = [_ask(thing, "resize", _("Change the size…"), "arrows-diagonal")] if isinstance(thing, Volume) else []
    return [*size, {**_ask(thing, "delete", _("Delete…"), "trash"), "danger": True}]


def _ask(thing: Volume | Dataset, name: str, label: Any, icon: str) -> dict[str, Any]:
    page = "console:volume_act" if isinstance(thing, Volume) else "console:dataset_act"
    return {"label": label, "icon": icon, "hx_get": reverse(page, args=[thing.pk, name])}
