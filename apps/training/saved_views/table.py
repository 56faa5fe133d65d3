"""The list of saved views."""

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.actor import Actor
from apps.common.tables import FULL, Table, column
from apps.common.templatetags.pl import when
from apps.training.models import SavedView
from apps.training.saved_views.selectors import link, may_change

_CHANGED = pgettext_lazy("time", "Changed")


class ViewTable(Table):
    caption = _("Saved views")
    name = tables.Column(verbose_name=_("Name"), attrs=column(width=FULL))
    subject = tables.Column(
        accessor="get_subject_display", order_by="subject", verbose_name=_("Of what"), attrs=column(fold=_("Of what"))
    )
    owner = tables.Column(
        accessor="owner__display_name",
        order_by=("owner__name", "owner__username"),
        verbose_name=_("Owner"),
        attrs=column(fold=_("Owner")),
    )
    shared = tables.Column(verbose_name=_("Who finds it"), attrs=column(fold=_("Who finds it")))
    changed_at = tables.Column(verbose_name=_CHANGED, attrs=column(fold=_CHANGED))
    actions = tables.Column(accessor="pk", verbose_name="", orderable=False, attrs=column("pl-acts", numeric=True))

    class Meta(Table.Meta):
        model = SavedView
        fields = ("name", "subject", "owner", "shared", "changed_at", "actions")

    def __init__(self, *args: Any, actor: Actor, **kwargs: Any) -> None:
        self.actor = actor
        super().__init__(*args, **kwargs)

    def render_name(self, record: SavedView) -> str:
        return format_html('<a class="pl-name" href="{}">{}</a>', link(record), record.name)

    def render_shared(self, record: SavedView) -> str:
        return str(_("The organisation") if record.shared else _("Only you"))

    def render_changed_at(self, record: SavedView) -> str:
        return when(record.changed_at)

    def render_actions(self, record: SavedView) -> str:
        if not may_change(self.actor, record):
            return ""
        acts = [("edit_view", _("Change…")), ("delete_view", _("Delete…"))]
        urls = [(reverse(f"training:{name}", args=[record.pk]), words) for name, words in acts]
        button = '<a class="btn btn-sm" href="{}" hx-get="{}" hx-target="#pl-dialog">{}</a> '
        return format_html(button * 2, *(part for url, words in urls for part in (url, url, words)))
