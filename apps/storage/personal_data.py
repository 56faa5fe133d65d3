"""What becomes of files when an account is deleted: volumes and datasets go to the recycle bin, shares end."""

from contextlib import suppress

from django.db.models import QuerySet, Sum
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.common.formatting import file_size
from apps.storage import datasets, jobs, uploads, volumes
from apps.storage.choices import OPEN_JOBS
from apps.storage.models import Dataset, DatasetVersion, Job, Upload, Volume
from apps.storage.owned import BIN_DAYS
from apps.tenants.models import User
from apps.tenants.personal_data import Fate, Line, OwnRows, PersonalData


def _volumes(user: User) -> "QuerySet[Volume]":
    rows: QuerySet[Volume] = Volume.objects.filter(owner=user, deleted_at=None)
    return rows.order_by("name")


def _datasets(user: User) -> "QuerySet[Dataset]":
    rows: QuerySet[Dataset] = Dataset.objects.filter(owner=user, deleted_at=None)
    return rows.order_by("name")


def _lost(user: User) -> list[Line]:
    lines = []
    if names := tuple(_volumes(user).values_list("name", flat=True)):
        size = file_size(_volumes(user).aggregate(total=Sum("used_bytes"))["total"] or 0)
        text = ngettext(
            "%(count)s volume with %(size)s, into the recycle bin for %(days)s days",
            "%(count)s volumes with %(size)s, into the recycle bin for %(days)s days",
            len(names),
        )
        lines.append(Line(text % {"count": len(names), "size": size, "days": BIN_DAYS}, names))
    if names := tuple(_datasets(user).values_list("name", flat=True)):
        stored = DatasetVersion.objects.filter(dataset__in=_datasets(user)).aggregate(total=Sum("total_bytes"))
        text = ngettext(
            "%(count)s dataset with %(size)s, into the recycle bin for %(days)s days",
            "%(count)s datasets with %(size)s, into the recycle bin for %(days)s days",
            len(names),
        )
        size = file_size(stored["total"] or 0)
        lines.append(Line(text % {"count": len(names), "size": size, "days": BIN_DAYS}, names))
    return lines


def _end(actor: Actor, user: User) -> bool:
    for job in Job.objects.filter(owner=user, status__in=OPEN_JOBS):
        jobs.cancel(actor, job)
    for upload in Upload.objects.filter(owner=user):
        uploads.cancel(upload)
    return True


def _put_away(actor: Actor, user: User) -> bool:
    """What a colleague's work has mounted stays until that has ended."""
    for volume in _volumes(user):
        with suppress(Conflict):
            volumes.delete(actor, volume)
    for dataset in _datasets(user):
        with suppress(Conflict):
            datasets.delete(actor, dataset)
    return not _volumes(user).exists() and not _datasets(user).exists()


DATA = PersonalData(
    links={
        "storage.Volume.owner": Fate.BINNED,
        "storage.Dataset.owner": Fate.BINNED,
        "storage.VolumeShare.user": Fate.ERASED,
        "storage.DatasetShare.user": Fate.ERASED,
        "storage.Upload.owner": Fate.EXPIRES,
        "storage.Job.owner": Fate.EXPIRES,
        # Goes, or stays, with what it is the folder of.
        "storage.Folder.owner": Fate.KEPT,
        "storage.DatasetVersion.made_by": Fate.KEPT,
    },
    lost=_lost,
    end=_end,
    put_away=_put_away,
    own=(
        OwnRows(
            "volumes",
            _("Volumes"),
            "storage.Volume",
            "owner",
            "organisation__name name note used_bytes file_count created_at deleted_at",
        ),
        OwnRows(
            "datasets",
            _("Datasets"),
            "storage.Dataset",
            "owner",
            "organisation__name name note newest created_at deleted_at",
        ),
        OwnRows(
            "file-jobs",
            _("Jobs on files"),
            "storage.Job",
            "owner",
            "organisation__name kind title status created_at ended_at",
        ),
        OwnRows(
            "uploads", _("Uploads under way"), "storage.Upload", "owner", "organisation__name path size created_at"
        ),
    ),
)
