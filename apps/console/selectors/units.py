"""What the price list can have prices for."""

from apps.billing.models import Package
from apps.clusters.models import Accelerator


def gpu_models() -> list[str]:
    """Models that machines have and packages name, in alphabetical order."""
    seen = Accelerator.objects.values_list("model", flat=True).distinct().order_by()
    named = Package.objects.exclude(gpu_model="").values_list("gpu_model", flat=True).distinct().order_by()
    return sorted({*seen, *named})
