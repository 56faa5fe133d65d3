"""Forms of the price list. Every rule stands in the service."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import GpuMode, UnitItem
from apps.billing.prices.pricelist import Unit
from apps.common.money_fields import YuanRateField
from apps.console.finance.price_versions import PriceForm


class UnitPriceForm(PriceForm):
    """The next price of a unit that is on the list."""

    rate = YuanRateField(label=_("Price"))


class NewUnitForm(UnitPriceForm):
    item = forms.ChoiceField(
        label=_("What the price is for"),
        choices=[
            (UnitItem.CPU, _("CPU, a core")),
            (UnitItem.MEMORY, _("Memory, a GiB")),
            (UnitItem.GPU, _("GPU: a card, an instance, or the compute of a card")),
            (UnitItem.GPU_MEMORY, _("GPU memory of slices, a GiB")),
            (UnitItem.RDMA, _("RDMA, a replica")),
        ],
    )
    gpu_mode = forms.ChoiceField(
        label=_("How the card is given out"), required=False, choices=[("", "—"), *GpuMode.choices]
    )
    gpu_model = forms.CharField(
        label=_("GPU model"),
        max_length=80,
        required=False,
        help_text=_("As the node reports it. Empty: any model without a price of its own."),
        widget=forms.TextInput(attrs={"list": "gpu-models", "autocomplete": "off"}),
    )
    mig_profile = forms.CharField(label=_("MIG profile"), max_length=24, required=False, help_text=_("As in 1g.18gb."))

    def unit(self) -> Unit:
        """What belongs to GPUs is empty where the price is for something else."""
        data: dict[str, Any] = self.cleaned_data
        item = UnitItem(data["item"])
        if item not in (UnitItem.GPU, UnitItem.GPU_MEMORY):
            return Unit(item)
        profile = data["mig_profile"].strip() if data["gpu_mode"] == GpuMode.MIG else ""
        return Unit(item, data["gpu_model"].strip(), data["gpu_mode"], profile)
