"""Forms of packages, in the units that people use. Every rule stands in the services."""

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import GpuMode
from apps.billing.models import Package
from apps.billing.services import PackageSpec
from apps.common.money_fields import YuanRateField

# Fields that people fill in larger units: how many of the stored unit one of theirs is.
SCALES = {"cpu_milli": 1000, "memory_mib": 1024, "gpu_memory_mib": 1024, "gpu_core_milli": 10}


def number(label: Any, *, places: int = 0, required: bool = False, most: int = 1_000_000) -> forms.DecimalField:
    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    return forms.DecimalField(
        label=label, required=required, min_value=0, max_value=most, decimal_places=places, widget=widget
    )


class PackageForm(forms.Form):
    name_en = forms.CharField(label=_("Name in English"), max_length=80)
    name_zh = forms.CharField(label=_("Name in Chinese"), max_length=80)
    description_en = forms.CharField(label=_("Description in English"), max_length=300, required=False)
    description_zh = forms.CharField(label=_("Description in Chinese"), max_length=300, required=False)
    cpu_milli = number(_("CPU"), places=3, required=True, most=100_000)
    memory_mib = number(_("Memory"), places=2, required=True)
    gpu_mode = forms.ChoiceField(
        label=_("GPU"),
        required=False,
        choices=[
            ("", _("No GPU")),
            (GpuMode.WHOLE, _("Whole card")),
            (GpuMode.MIG, _("MIG: hardware partition")),
            (GpuMode.VGPU, _("vGPU: memory limited")),
            (GpuMode.SHARED, _("Shared, no isolation")),
        ],
    )
    gpu_count = number(_("Number of cards or slices"), most=1024)
    gpu_model = forms.CharField(
        label=_("GPU model"), max_length=80, required=False, help_text=_("As the node reports it. Empty: any model.")
    )
    gpu_memory_mib = number(_("GPU memory of each"), places=2)
    gpu_core_milli = number(_("Share of compute of each"), places=1, most=100)
    mig_profile = forms.CharField(label=_("MIG profile"), max_length=24, required=False, help_text=_("As in 1g.18gb."))
    rdma = forms.BooleanField(
        label=_("RDMA over InfiniBand"),
        required=False,
        help_text=_("Runs only on nodes with an active link, whose adapters it shares with other such work."),
    )
    sort = forms.IntegerField(
        label=_("Position"),
        initial=100,
        min_value=0,
        max_value=100_000,
        help_text=_("Small numbers stand first in the list."),
    )

    def spec(self) -> PackageSpec:
        """In the units of the catalogue; what belongs to GPUs is empty where the package has none."""
        data = {name: self._stored(name) for name in PackageForm.base_fields}
        if not data["gpu_mode"]:
            data |= {"gpu_count": 0, "gpu_model": "", "gpu_memory_mib": 0, "gpu_core_milli": 0, "mig_profile": ""}
        elif data["gpu_mode"] == GpuMode.WHOLE:
            data |= {"gpu_core_milli": 1000}
        return PackageSpec(**data)

    def _stored(self, name: str) -> Any:
        value = self.cleaned_data[name]
        if isinstance(value, Decimal) or value is None:
            return int((value or 0) * SCALES.get(name, 1))
        return value


class NewPackageForm(PackageForm):
    """With its first price; without one it cannot be started until a price is set."""

    rate = YuanRateField(label=_("First price"), required=False, help_text=_("From now on. Empty: not startable yet."))
    follows_list = forms.BooleanField(
        label=_("Its price follows the price list"),
        required=False,
        help_text=_("Then it needs no first price: the list makes it, now and whenever the list changes."),
    )


def initial_of(package: Package) -> dict[str, Any]:
    """The form's values of a package, in the units that people use."""
    names = list(PackageForm.base_fields)
    values = {name: getattr(package, name) for name in names}
    scaled = {name: f"{(Decimal(values[name]) / scale).normalize():f}" for name, scale in SCALES.items()}
    return {**values, **scaled}
