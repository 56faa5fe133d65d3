"""What every form that starts work asks: package, cluster, spending cap, tags, whether it may be interrupted."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.clusters.selectors import cluster_options
from apps.common.money_fields import YuanField
from apps.common.tag_fields import TagsField
from apps.workloads.offers.option_picker import PackagesField


class LaunchForm(forms.Form):
    """A kind's form adds its own fields, and names what is called otherwise with it."""

    name = forms.CharField(label=_("Name"))
    note = forms.CharField(label=_("Note"), max_length=200, required=False)
    image = forms.UUIDField(
        label=_("Image"),
        error_messages={"required": _("Choose one of the images."), "invalid": _("Choose one of the images.")},
    )
    package = forms.IntegerField(
        label=_("Package"),
        error_messages={"required": _("Choose one of the packages."), "invalid": _("Choose one of the packages.")},
    )
    uninterruptible = forms.BooleanField(label=_("It must not be interrupted"), required=False)
    cluster = forms.TypedChoiceField(
        label=_("Logical cluster"), required=False, coerce=UUID, empty_value=None, choices=cluster_options
    )
    also = PackagesField(label=_("Also take another card"))
    cap = YuanField(label=_("Spending cap"), required=False, max_length=20)
    tags = TagsField()

    def offers_clusters(self) -> bool:
        """Whether there is anything to choose between."""
        field: Any = self.fields["cluster"]
        return len(list(field.choices)) > 2

    def launch_values(self) -> dict[str, Any]:
        """What it says for the services' requests, by their names; the form must be valid."""
        data = self.cleaned_data
        return {
            **{name: data[name] for name in ("name", "note", "tags")},
            "image_id": data["image"],
            "package_id": data["package"],
            "preemptible": not data["uninterruptible"],
            "cluster_id": data["cluster"],
            "also_ids": tuple(data["also"]),
            "cap_fen": data["cap"],
        }


def problems_of(form: forms.Form, anchors: Mapping[str, str]) -> list[dict[str, str]]:
    """Every problem with the place to mend it, for the summary above the form.

    `anchors`: the ids of fields that have an element of their own on the page.
    """
    return [
        {"anchor": anchors.get(name, f"field-id_{name}"), "label": str(form[name].label), "text": str(text)}
        for name, texts in form.errors.items()
        if name != "__all__"
        for text in texts
    ]


def new_key() -> str:
    """An idempotency key for a form that nobody has sent yet."""
    return uuid4().hex
