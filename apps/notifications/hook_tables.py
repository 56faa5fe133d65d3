"""Lists of webhooks and of what was sent to one."""

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.common.tables import FULL, Table, column
from apps.notifications.models import Webhook, WebhookDelivery


class HookTable(Table):
    caption = _("Webhooks")
    name = tables.TemplateColumn(
        '<a class="pl-name" href="{% url "webhooks:detail" record.pk %}">{{ record.name }}</a>'
        '<span class="pl-sub pl-cut">{{ record.url }}</span>',
        verbose_name=_("Webhook"),
        attrs=column(width=FULL),
    )
    state = tables.TemplateColumn(
        template_name="notifications/cells/hook_state.html",
        verbose_name=_("State"),
        orderable=False,
        attrs=column(fold=_("State")),
    )
    kinds = tables.TemplateColumn(
        template_name="notifications/cells/hook_kinds.html",
        verbose_name=_("Events"),
        orderable=False,
        attrs=column("pl-wide"),
    )
    waiting = tables.Column(verbose_name=_("On their way"), attrs=column(fold=_("On their way"), numeric=True))

    class Meta(Table.Meta):
        model = Webhook
        fields = ()
        sequence = ("name", "state", "kinds", "waiting")


class DeliveryTable(Table):
    caption = _("Deliveries")
    kind = tables.TemplateColumn(
        template_name="notifications/cells/delivery_kind.html",
        verbose_name=_("Event"),
        orderable=False,
        attrs=column(width=FULL),
    )
    created_at = tables.TemplateColumn(
        "{% load pl %}{% when record.created_at seconds=True %}",
        verbose_name=_("Happened"),
        orderable=False,
        attrs=column("pl-nowrap", fold=_("Happened")),
    )
    state = tables.TemplateColumn(
        template_name="notifications/cells/delivery_state.html",
        verbose_name=_("State"),
        orderable=False,
        attrs=column(fold=_("State")),
    )
    attempts_made = tables.TemplateColumn(
        template_name="notifications/cells/delivery_attempts.html",
        verbose_name=_("Attempts"),
        orderable=False,
        attrs=column(width=FULL),
    )
    actions = tables.TemplateColumn(
        template_name="notifications/cells/delivery_actions.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-acts", numeric=True, width=FULL),
    )

    class Meta(Table.Meta):
        model = WebhookDelivery
        fields = ()
        sequence = ("kind", "created_at", "state", "attempts_made", "actions")
