"""What the kernel has to know of training runs."""

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.tenants.choices import Resource
from apps.tenants.roles import MEMBERS, READERS, KindPermission
from apps.training.choices import KIND
from apps.training.models import Run
from apps.training.notices import SPEAKERS, end_facts
from apps.training.switching import start_instead
from apps.workloads.choices import Status
from apps.workloads.kinds import KindRules, KindWords, Menu, Notices, Rights, Routes
from apps.workloads.models import Workload


def _not_retried(rows: QuerySet[Workload]) -> QuerySet[Workload]:
    """Without runs that have a later version."""
    family, version = "training_run__family", "training_run__version"
    later = Run.objects.filter(family=OuterRef(family), version__gt=OuterRef(version))
    return rows.filter(~Exists(later))


def _is_on_its_own(workload: Workload) -> bool:
    """What became of trials and steps is told once, with their experiment or pipeline."""
    parts = Q(trial_of__isnull=False) | Q(step_of__isnull=False)
    return not Run.objects.filter(parts, workload=workload).exists()


def _start_instead(actor: Actor, workload: Workload, package_id: int, key: str) -> Workload:
    run: Run = Run.objects.select_related("workload", "code").get(workload=workload)
    return start_instead(actor, run, package_id=package_id, key=key).workload


TRAINING = KindRules(
    name=KIND,
    label=_("Training"),
    rights=Rights(Permission.TRAINING_VIEW, Permission.TRAINING_SUBMIT, Permission.TRAINING_MANAGE_ALL),
    permissions=(
        KindPermission(Permission.TRAINING_VIEW, _("See training runs"), _("Training"), READERS),
        KindPermission(
            Permission.TRAINING_SUBMIT, _("Start and stop training runs of one's own"), _("Training"), MEMBERS
        ),
        KindPermission(
            Permission.TRAINING_MANAGE_ALL, _("See, stop and rerun colleagues' training runs"), _("Training")
        ),
    ),
    quota_line=Resource.RUNS,
    quota_unit=_("runs"),
    words=KindWords(
        start=_("Start training"),
        price_lock=_("does not change during this run"),
        giving_way=_("Otherwise it is told before, may save, and goes on later from its last checkpoint."),
    ),
    notices=Notices(
        subject="run",
        ends={Status.SUCCEEDED: "finished", Status.FAILED: "failed"},
        speakers=SPEAKERS,
        facts=end_facts,
        apart=_is_on_its_own,
    ),
    routes=Routes("training/", "apps.training.urls", "apps.training.api_urls"),
    page="training:of_workload",
    menu=Menu(_("Training"), "flask", "training:list", position=20),
    keeps_gpu=True,
    not_retried=_not_retried,
    start_instead=_start_instead,
)
