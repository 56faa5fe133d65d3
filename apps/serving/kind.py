"""What the kernel has to know of services."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.permissions import Permission
from apps.serving.choices import KIND
from apps.serving.notices import DECLARED, PAGE, SPEAKERS, SUBJECT
from apps.tenants.choices import Resource
from apps.tenants.roles import MEMBERS, READERS, KindPermission
from apps.workloads.kinds import KindRules, KindWords, Menu, Notices, Rights, Routes

HEADING = _("Model services")

SERVICE = KindRules(
    name=KIND,
    label=_("Service replica"),
    rights=Rights(Permission.SERVICES_VIEW, Permission.SERVICES_USE, Permission.SERVICES_MANAGE_ALL),
    permissions=(
        KindPermission(Permission.SERVICES_VIEW, _("See model services"), HEADING, READERS),
        KindPermission(
            Permission.SERVICES_USE, _("Create, update, start and stop services of one's own"), HEADING, MEMBERS
        ),
        KindPermission(Permission.SERVICES_MANAGE_ALL, _("See and manage colleagues' services"), HEADING),
    ),
    quota_line=Resource.new("service_replicas", _("Service replicas at a time")),
    quota_unit=pgettext_lazy("unit", "service replicas"),
    words=KindWords(
        start=_("Create and start"),
        price_lock=_("for the replicas that start now"),
        giving_way=_("Otherwise it is told before, finishes its requests, and starts again later."),
    ),
    notices=Notices(subject=SUBJECT, speakers=SPEAKERS, declared=DECLARED),
    routes=Routes("services/", "apps.serving.urls", "apps.serving.api_urls"),
    page=PAGE,
    menu=Menu(HEADING, "rocket", "serving:list", position=25),
    ends=False,
    private=True,
    replicas=True,
)
