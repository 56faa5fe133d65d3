"""The list of builds: columns and filter."""

from django.utils.translation import gettext_lazy as _

from apps.builds.models import Build
from apps.common.cells import Cell
from apps.common.permissions import Permission
from apps.common.tables import FULL, column
from apps.workloads.single_workload.tables import WorkFilter, WorkTable


class BuildTable(WorkTable):
    room = "builds"
    caption = _("Image builds")
    name = Cell(template_name="builds/cells/name.html", verbose_name=_("Image and base"), attrs=column(width=FULL))

    class Meta(WorkTable.Meta):
        model = Build


class BuildFilter(WorkFilter):
    sees_all = Permission.IMAGES_MANAGE

    class Meta:
        model = Build
        fields: tuple[str, ...] = ()
