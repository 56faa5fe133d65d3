"""Where a member of a gang is and how it ended, in a few words."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.workloads.drivers.base import ExitReason, Phase
from apps.workloads.models import Member, Workload

PHASES: Mapping[str, Promise] = {
    Phase.IMAGE: gettext_lazy("preparing the runtime"),
    Phase.MOUNT: gettext_lazy("mounting files"),
    Phase.BARRIER: gettext_lazy("waiting for the others"),
    Phase.RUNNING: gettext_lazy("running"),
}
_ENDS: Mapping[str, Promise] = {
    ExitReason.STOPPED: gettext_lazy("stopped"),
    ExitReason.OOM: gettext_lazy("out of memory"),
    ExitReason.DISK_LIMIT: gettext_lazy("held too much on disk"),
    ExitReason.FILE_LIMIT: gettext_lazy("held too many files"),
    ExitReason.DISK_FULL: gettext_lazy("the disk was full"),
    ExitReason.IMAGE_FAILED: gettext_lazy("the runtime could not be prepared"),
    ExitReason.MOUNT_FAILED: gettext_lazy("its files could not be mounted"),
    ExitReason.START_FAILED: gettext_lazy("could not be started"),
    ExitReason.LOST: gettext_lazy("lost"),
}


def member_words(member: Member) -> str:
    """In the active language."""
    if member.ended_at is None:
        return str(PHASES.get(member.phase, _("placed")))
    if member.exit_reason in _ENDS:
        return str(_ENDS[member.exit_reason])
    if member.exit_signal is not None:
        return _("ended by signal %(number)s") % {"number": member.exit_signal}
    return _("finished") if member.exit_code == 0 else _("exit code %(code)s") % {"code": member.exit_code}


def which_member(workload: Workload) -> str:
    """Whose end was that of a gang; empty for anything else."""
    rank = workload.reason_data.get("rank")
    if rank is None:
        return ""
    return _("It was the member of rank %(rank)s; the others were ended with it.") % {"rank": rank}
