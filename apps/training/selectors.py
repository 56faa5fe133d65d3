"""Read training runs that the actor may see."""

from uuid import UUID

from django.db.models import Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.billing.prices.own import with_paid_rate
from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound
from apps.common.permissions import Permission
from apps.common.prepared import prepared
from apps.storage.safe_open import Item, list_folder, open_file
from apps.storage.services import root_of
from apps.training import checkpoints
from apps.training.choices import KIND
from apps.training.models import Run
from apps.workloads.models import Attempt, Event, Workload
from apps.workloads.permissions import seen_rows

NOT_DELETED = Q(deleted_at__isnull=True)


def runs(actor: Actor) -> QuerySet[Run]:
    """Runs that the actor may see, newest first, with `paid_rate` in fen per hour."""
    rows = seen_rows(actor, KIND, _joined().filter(NOT_DELETED))
    return with_paid_rate(rows, "workload__").order_by("-created_at", "-pk")


def in_list(actor: Actor) -> QuerySet[Run]:
    """As `runs`, without the tables and columns that no row of a list shows: reading them took most of its time."""
    rows: QuerySet[Run] = Run.objects.select_related(
        "workload__package", "workload__price_version", "workload__collection", "owner", "image"
    )
    shown = (
        *(field.name for field in Run._meta.concrete_fields),
        *(f"workload__{field.name}" for field in Workload._meta.concrete_fields),
        *(f"workload__package__{name}" for name in ("name_en", "name_zh", "cpu_milli", "memory_mib")),
        "workload__price_version__number",
        *(f"workload__collection__{name}" for name in ("progress", "headline_name", "headline_value")),
        *("owner__name", "owner__username", "image__name"),
    )
    rows = seen_rows(actor, KIND, rows.only(*shown).filter(NOT_DELETED))
    return with_paid_rate(rows, "workload__").order_by("-created_at", "-pk")


def _joined() -> QuerySet[Run]:
    rows: QuerySet[Run] = Run.objects.select_related(
        *("workload__package", "workload__price_version", "workload__collection"),
        *("owner", "image", "parent", "code", "output", "array_line"),
    )
    return rows


def with_last_seen(rows: QuerySet[Run]) -> QuerySet[Run]:
    """Adds `last_seen`: when the live attempt was last proved to run; None if it is on no machine."""
    live = Attempt.objects.filter(workload=OuterRef("workload"), ended_at__isnull=True, handle__isnull=False)
    return rows.annotate(last_seen=Subquery(live.values(seen=Coalesce("seen_at", "placed_at"))[:1]))


def last_event_id(actor: Actor, run: Run | None = None) -> int:
    """Where a page rendered now resumes the stream of events; 0 before the first."""
    actor.require(Permission.TRAINING_VIEW)
    if run is None:
        return next(iter(_last_event(actor)), 0)
    rows = Event.objects.filter(organisation_id=actor.organisation(), workload_id=run.workload_id)
    return rows.order_by("-pk").values_list("pk", flat=True).first() or 0


@prepared
def _last_event(actor: Actor, /) -> QuerySet[Event, int]:
    rows = Event.objects.filter(organisation_id=actor.organisation())
    return rows.order_by("-pk").values_list("pk", flat=True)[:1]


def get(actor: Actor, run_id: UUID) -> Run:
    """One visible run; `NotFound` otherwise."""
    run = runs(actor).filter(pk=run_id).first()
    if run is None:
        raise NotFound
    return run


def of_organisation(actor: Actor, run_id: UUID) -> Run:
    """Any run of the actor's organisation, for its passport; `NotFound` for one of another."""
    actor.require(Permission.TRAINING_VIEW)
    run: Run | None = with_paid_rate(_joined(), "workload__").filter(NOT_DELETED, pk=run_id).first()
    if run is None or run.organisation_id != actor.organisation():
        raise NotFound
    return run


def deleted_of_workload(actor: Actor, workload_id: UUID) -> Run | None:
    """What bills still link to after it was deleted; None for what the actor did not see before either."""
    rows: QuerySet[Run] = Run.objects.filter(workload_id=workload_id, deleted_at__isnull=False)
    return seen_rows(actor, KIND, rows).first()


def latest(actor: Actor) -> Run | None:
    """The actor's own last run: where the next form's defaults come from."""
    return runs(actor).filter(owner_id=actor.user_id, trial_of__isnull=True, step_of__isnull=True).first()


def versions(actor: Actor, run: Run) -> QuerySet[Run]:
    """All versions of the run's family, newest first."""
    return runs(actor).filter(family=run.family).order_by("-version")


def newest_version(run: Run) -> int:
    """The highest version number in the run's family, across all owners."""
    newest: int | None = Run.objects.filter(family=run.family).aggregate(newest=Max("version"))["newest"]
    return newest or run.version


def outputs(run: Run, path: str = "") -> list[Item]:
    """What the run has written so far, one folder at a time. An empty folder of checkpoints it did not write."""
    found = list_folder(root_of(run.output), path)
    return [each for each in found if each.path != checkpoints.FOLDER or not each.is_folder or checkpoints.has_any(run)]


def outputs_or_none(run: Run, path: str = "") -> list[Item] | None:
    """Like `outputs`, but None if there is no such folder, as before the run writes anything or for a stale link."""
    try:
        return outputs(run, path)
    except (DomainError, FileNotFoundError):
        return None


def code_files(run: Run, path: str = "") -> list[Item]:
    return list_folder(root_of(run.code), path)


def open_output(run: Run, path: str) -> int:
    """A read-only descriptor of one output file; the caller closes it."""
    return open_file(root_of(run.output), path)


def code_text(run: Run, *, limit: int = 1 << 20) -> str | None:
    """The run's code if it is a single text file that fits the page's editor, else None."""
    files = code_files(run)
    if len(files) != 1 or files[0].is_folder or files[0].size > limit or files[0].path != run.script:
        return None
    with open(open_file(root_of(run.code), files[0].path), encoding="utf-8", errors="strict") as file:
        try:
            return file.read()
        except UnicodeDecodeError:
            return None
