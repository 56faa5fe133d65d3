"""What becomes of runs when an account is deleted: they are the organisation's results, and stay."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.common.actor import Actor
from apps.tenants.models import User
from apps.tenants.personal_data import Fate, Line, OwnRows, PersonalData
from apps.training.models import Report, Run, SavedView


def _kept(user: User) -> list[Line]:
    count = Run.objects.filter(owner=user).count()
    if not count:
        return []
    text = ngettext(
        "%(count)s run with its code and results, for the organisation's administrators",
        "%(count)s runs with their code and results, for the organisation's administrators",
        count,
    )
    return [Line(text % {"count": count})]


def _erase(actor: Actor, user: User) -> None:
    """Views and reports that nobody else found; shared ones are the organisation's."""
    SavedView.objects.filter(owner=user, shared=False).delete()
    Report.objects.filter(owner=user, shared=False).delete()


DATA = PersonalData(
    links={
        "training.Run.owner": Fate.KEPT,
        "training.GitHostKey.confirmed_by": Fate.KEPT,
        "training.SavedView.owner": Fate.KEPT,
        "training.Report.owner": Fate.KEPT,
        "training.RunArray.owner": Fate.KEPT,
    },
    kept=_kept,
    erase=_erase,
    own=(
        OwnRows(
            "runs",
            _("Training runs"),
            "training.Run",
            "owner",
            "organisation__name name version note image__name entry script arguments workload__status created_at "
            "workload__started_at workload__ended_at deleted_at",
        ),
        OwnRows(
            "run_arrays",
            _("Arrays of training runs"),
            "training.RunArray",
            "owner",
            "organisation__name name at_once waits created_at",
        ),
        OwnRows(
            "git_hosts",
            _("Git servers known over SSH"),
            "training.GitHostKey",
            "confirmed_by",
            "organisation__name host fingerprint created_at",
        ),
        OwnRows(
            "reports",
            _("Reports on runs"),
            "training.Report",
            "owner",
            "organisation__name name text shared created_at changed_at",
        ),
        OwnRows(
            "saved_views",
            _("Saved views of runs"),
            "training.SavedView",
            "owner",
            "organisation__name subject name query shared created_at changed_at",
        ),
    ),
)
