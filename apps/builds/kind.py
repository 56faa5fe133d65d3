"""What the kernel has to know of builds."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.builds.choices import KIND
from apps.builds.notices import DECLARED, PAGE, SPEAKERS
from apps.common.permissions import Permission
from apps.tenants.choices import Resource
from apps.tenants.roles import READERS, KindPermission
from apps.workloads.choices import Status
from apps.workloads.kinds import KindRules, KindWords, Notices, Rights, Routes

BUILD = KindRules(
    name=KIND,
    label=_("Image build"),
    rights=Rights(Permission.BUILDS_VIEW, Permission.IMAGES_USE, Permission.IMAGES_MANAGE),
    permissions=(KindPermission(Permission.BUILDS_VIEW, _("See image builds"), _("Images"), READERS),),
    quota_line=Resource.new("builds", _("Image builds at a time")),
    quota_unit=pgettext_lazy("unit", "image builds"),
    words=KindWords(
        start=_("Build the image"),
        price_lock=_("does not change during this build"),
        giving_way=_("Otherwise it is told before, and builds again from its first step later."),
    ),
    notices=Notices(
        subject="build",
        ends={Status.SUCCEEDED: "built", Status.FAILED: "failed"},
        speakers=SPEAKERS,
        declared=DECLARED,
    ),
    routes=Routes("builds/", "apps.builds.urls", "apps.builds.api_urls"),
    page=PAGE,
    private=True,
)
