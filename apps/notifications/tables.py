"""The list of notices."""

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.common.tables import FULL, Table, column
from apps.notifications.models import Notice


class NoticeTable(Table):
    caption = _("Notices")
    read_url = "notifications:read"
    what = tables.TemplateColumn(
        template_name="notifications/cells/what.html",
        verbose_name=_("Notice"),
        orderable=False,
        attrs=column(width=FULL),
    )
    created_at = tables.TemplateColumn(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("When"),
        orderable=False,
        attrs=column("pl-nowrap", fold=_("When")),
    )
    actions = tables.TemplateColumn(
        template_name="notifications/cells/actions.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-acts", "pl-nowrap", numeric=True, width=FULL),
    )

    class Meta(Table.Meta):
        model = Notice
        fields = ()
        sequence = ("what", "created_at", "actions")
