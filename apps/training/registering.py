"""Register what a run wrote as a version of a model, with where it came from."""

import re

from django.db import transaction
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.modelhub import selectors as models
from apps.modelhub import services as modelhub
from apps.modelhub.choices import Source
from apps.modelhub.models import Model, ModelVersion
from apps.modelhub.services import Lineage
from apps.storage import datasets
from apps.storage.choices import RootKind
from apps.storage.digests import digest_of
from apps.storage.listings import mounted_ids
from apps.storage.models import DatasetVersion
from apps.storage.roots import resolve
from apps.tracking.selectors import latest
from apps.training.models import Run
from apps.workloads.permissions import may_change

MOST_METRICS = 100


def register(
    actor: Actor, run: Run, path: str = "", *, model: Model | None = None, name: str = "", note: str = ""
) -> ModelVersion:
    """The next version of `model`, or the first of a new one called `name`. All of it, or nothing.

    Raises `Conflict` while the run lives, `Invalid` beside `path` or `name`, `Denied`.
    """
    may_change(actor, run.workload)
    if run.workload.is_live:
        raise Conflict(_("It has not ended yet."), hint=_("Wait until it has ended, or stop it."))
    source = resolve(actor, RootKind.FOLDER, run.output_id)
    with transaction.atomic():
        chosen = model or modelhub.create(actor, name=name)
        return modelhub.add_version(actor, chosen, source, path, lineage=lineage_of(actor, run), note=note)


def lineage_of(actor: Actor, run: Run) -> Lineage:
    """Its datasets, the model that it began with, its code and what it measured last."""
    mounts = run.workload.frozen_spec.mounts
    seen = datasets.choosable(actor).filter(pk__in=mounted_ids(mounts, RootKind.VERSION))
    data: list[DatasetVersion] = list(seen.order_by("dataset__name"))
    parent = models.versions_for(actor).filter(pk__in=mounted_ids(mounts, RootKind.MODEL)).first()
    code = digest_of(run.code)
    metrics = latest([run.workload_id]).get(run.workload_id, {})
    return Lineage(
        source=Source.RUN,
        name=f"{run.name} v{run.version}",
        workload=run.workload,
        parent=parent,
        datasets=data,
        code_digest=code.sha256 if code is not None else "",
        metrics=dict(sorted(metrics.items())[:MOST_METRICS]),
    )


def suggested_name(run: Run) -> str:
    """The run's name as a model may be called."""
    cleaned = re.sub(r"[^\w.\-]+", "-", run.name).strip("-.")
    return cleaned[:60] or "model"
