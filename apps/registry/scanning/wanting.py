"""Which images are to be scanned: those on offer that never were, those in use since the database is newer, and whose
scan somebody asked for.
"""

from datetime import datetime

from django.db.models import CharField, Exists, F, Func, OuterRef, Q, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Now

from apps.registry.models import Image, ImageScan
from apps.workloads.choices import LIVE
from apps.workloads.models import Workload
from apps.workloads.references import Reference

AT_ONCE = 200


def _digest() -> Func:
    """Of an image's reference."""
    return Func(F("reference"), Value("@"), Value(2), function="split_part", output_field=CharField())


def note_missing() -> int:
    """Images that somebody pushed, saved or put on offer, and that no row is about yet."""
    offered = Image.objects.filter(active=True).exclude(reference="").annotate(digest=_digest())
    rows = offered.filter(~Exists(ImageScan.objects.filter(digest=OuterRef("digest"))))
    found = dict(rows.values_list("digest", "reference")[:AT_ONCE])
    made = [ImageScan(digest=digest, reference=reference, wanted_at=Now()) for digest, reference in found.items()]
    ImageScan.objects.bulk_create(made, ignore_conflicts=True)
    return len(made)


def want_with_newer_database(built_at: datetime | None) -> int:
    """Scan again what is on offer or runs, where the last scan knew less than the database now does, or failed."""
    if built_at is None:
        return 0
    knew_less = Q(scanned_at__isnull=False, database_built_at__lt=built_at)
    given_up = Q(scanned_at__isnull=True, failed_at__lt=built_at)
    older = ImageScan.objects.filter(knew_less | given_up, wanted_at__isnull=True)
    offered = Image.objects.filter(active=True).annotate(digest=_digest()).filter(digest=OuterRef("digest"))
    live = Workload.objects.filter(status__in=sorted(LIVE)).annotate(image_digest=KT("spec__image__digest"))
    used = Q(Exists(offered)) | Q(Exists(live.filter(image_digest=OuterRef("digest"))))
    return older.filter(used).update(wanted_at=Now(), not_before=None, tries=0)


def want(image: Reference, *, anew: bool = False) -> None:
    """A first scan of the image; with `anew` one more, as soon as the worker comes to it."""
    values = {"reference": image.name, "wanted_at": Now()}
    row, made = ImageScan.objects.get_or_create(digest=image.digest, defaults=values)
    if made or not (anew or (row.scanned_at is None and row.failed_at is None)):
        return
    ImageScan.objects.filter(pk=row.pk, wanted_at__isnull=True).update(**values)
    ImageScan.objects.filter(pk=row.pk).update(not_before=None, tries=0)
