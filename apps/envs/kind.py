"""What the kernel has to know of development environments."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.common.permissions import Permission
from apps.envs.choices import KIND
from apps.envs.models import Environment
from apps.envs.notices import SPEAKERS
from apps.envs.services.switching import start_instead
from apps.tenants.choices import Resource
from apps.tenants.roles import MEMBERS, READERS, KindPermission
from apps.workloads.kinds import KindRules, KindWords, Menu, Notices, Rights, Routes
from apps.workloads.models import Workload


def _start_instead(actor: Actor, workload: Workload, package_id: int, key: str) -> Workload:
    """An environment knows its newest start only: what waited before has ended."""
    environment: Environment | None = Environment.objects.select_related("workload").filter(workload=workload).first()
    started = start_instead(actor, environment, package_id=package_id) if environment else None
    if started is None or started.workload is None:
        raise Conflict(_("It does not wait any more."))
    return started.workload


ENVIRONMENT = KindRules(
    name=KIND,
    label=_("Environment"),
    rights=Rights(Permission.ENVIRONMENTS_VIEW, Permission.ENVIRONMENTS_USE, Permission.ENVIRONMENTS_MANAGE_ALL),
    permissions=(
        KindPermission(Permission.ENVIRONMENTS_VIEW, _("See environments"), _("Environments"), READERS),
        KindPermission(
            Permission.ENVIRONMENTS_USE,
            _("Create, open, start and stop environments of one's own"),
            _("Environments"),
            MEMBERS,
        ),
        KindPermission(
            Permission.ENVIRONMENTS_MANAGE_ALL, _("See and manage colleagues' environments"), _("Environments")
        ),
    ),
    quota_line=Resource.ENVIRONMENTS,
    quota_unit=pgettext_lazy("unit", "environments"),
    words=KindWords(
        start=_("Create and start"),
        price_lock=_("until it is stopped"),
        giving_way=_(
            "Otherwise it is told before, its home is saved in a snapshot, and it starts again later; the memory of "
            "running notebooks is lost."
        ),
    ),
    notices=Notices(subject="environment", speakers=SPEAKERS),
    routes=Routes("environments/", "apps.envs.urls", "apps.envs.api_urls"),
    page="envs:of_workload",
    menu=Menu(_("Environments"), "terminal-2", "envs:list", position=10),
    ends=False,
    saved_from_outside=True,
    private=True,
    start_instead=_start_instead,
)
