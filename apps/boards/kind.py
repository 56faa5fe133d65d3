"""What the kernel has to know of boards."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.boards.choices import KIND
from apps.boards.notices import DECLARED, PAGE, SPEAKERS
from apps.boards.permissions import require_runs
from apps.common.permissions import Permission
from apps.tenants.choices import Resource
from apps.workloads.choices import Status
from apps.workloads.kinds import KindRules, KindWords, Notices, Rights, Routes

BOARD = KindRules(
    name=KIND,
    label="TensorBoard",
    rights=Rights(Permission.TRAINING_VIEW, Permission.TRAINING_SUBMIT, Permission.TRAINING_MANAGE_ALL),
    permissions=(),  # those of training: who starts runs looks at them
    quota_line=Resource.new("tensorboards", _("TensorBoards at a time")),
    quota_unit=pgettext_lazy("unit", "TensorBoards"),
    words=KindWords(
        start=_("Open TensorBoard"),
        price_lock=_("until it ends"),
        giving_way=_("Otherwise it is told before, and opens again later; nothing of the runs is touched."),
    ),
    notices=Notices(subject="tensorboard", ends={Status.FAILED: "failed"}, speakers=SPEAKERS, declared=DECLARED),
    routes=Routes("tensorboard/", "apps.boards.urls", "apps.boards.api_urls"),
    page=PAGE,
    ends=False,
    private=True,
    entry_right=require_runs,
)
