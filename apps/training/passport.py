"""What defines a run, in a few lines: enough to know it again, and to run it again."""

from typing import Any

from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from apps.common.money import yuan_rate
from apps.storage.choosing import DATASETS, VOLUMES
from apps.storage.services import file_names
from apps.training.models import Run
from apps.workloads.options import others_of
from apps.workloads.spec import AnyImage, Image


def rows_of(run: Run) -> list[dict[str, Any]]:
    """Rows of `components/kv.html`."""
    workload = run.workload
    price = workload.price_version
    rows = [
        {"label": _("Image"), "value": run.image.name, "sub": _made_of(workload.frozen_spec.image)},
        {"label": _("Code"), "value": _files(run), "sub": str(run.code_id)[:8]},
        {"label": _("Entry"), "value": run.script, "sub": run.get_entry_display()},
        {"label": _("Arguments"), "value": _arguments(run)},
        {"label": _("Data"), "value": _data(run)},
        {"label": _("Package"), "value": workload.package.name(get_language() or "")},
        {"label": _("Would do as well"), "value": ", ".join(others_of(workload, get_language() or ""))},
        {"label": _("Price"), "value": yuan_rate(run.paid_rate), "sub": f"v{price.number}", "icon": "lock"},
    ]
    return [row for row in rows if row["value"]]


def _made_of(image: AnyImage) -> str:
    return " · ".join(image.requirements) if isinstance(image, Image) else image.digest


def _files(run: Run) -> str:
    count = len(file_names(run.code))
    return ngettext("%(count)s file", "%(count)s files", count) % {"count": count}


def _arguments(run: Run) -> str:
    """The first few as typed; the settings tab has them all."""
    shown = [f"{name} {value}".strip() for name, value in run.arguments[:4]]
    return " ".join([*shown, "…"] if len(run.arguments) > len(shown) else shown)


def _data(run: Run) -> str:
    """Where volumes and datasets were mounted; dataset versions are frozen, volumes are not."""
    mounts = run.workload.frozen_spec.mounts
    return ", ".join(mount.target for mount in mounts if mount.target.startswith((VOLUMES, DATASETS)))
