"""What every form that starts work asks: package, cluster, spending cap, tags, whether it may be interrupted."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.clusters.selectors import cluster_options
from apps.common.durations import DurationField, duration_text
from apps.common.errors import Invalid
from apps.common.money_fields import YuanField
from apps.common.tag_fields import TagsField
from apps.workloads.launching.request import Launch
from apps.workloads.offers.cap_quote import yuan_text
from apps.workloads.offers.option_picker import PackagesField
from apps.workloads.ports.fields import PortsField
from apps.workloads.run_times import RunTimes


class LaunchForm(forms.Form):
    """A kind's form adds its own fields, and names what is called otherwise with it.

    `most_priority`: the person's highest, where the page has read it.
    """

    most_priority: int | None = None
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
    ports = PortsField()
    expected = DurationField(
        label=_("Expected run time"),
        help_text=_(
            "Such as 90 min, 2 h or 1 d 6 h. Makes the estimated starts of what waits better; nothing is stopped for "
            "it."
        ),
    )
    longest = DurationField(
        label=_("Longest run time"),
        help_text=_(
            "Counted from running on, not in the queue. You are told before; then it is saved and stopped. You can "
            "change it while it runs."
        ),
    )
    gpu_idle = DurationField(
        label=_("Stop when the GPU stands idle for"),
        help_text=_(
            "Such as 30 min. It is saved and stopped once its cards have not been used for so long. A card that cannot "
            "be measured counts as used. Empty: never."
        ),
    )

    def offers_clusters(self) -> bool:
        """Whether there is anything to choose between."""
        field: Any = self.fields["cluster"]
        return len(list(field.choices)) > 2

    def may_be_fewer(self) -> bool:
        """Whether it is asked how few of its members it starts with, as it stands."""
        return False

    @staticmethod
    def check_name(name: str) -> str:
        """The rule of the kind's service for names; raises `Invalid`."""
        raise NotImplementedError

    def clean_name(self) -> str:
        try:
            return self.check_name(self.cleaned_data["name"])
        except Invalid as error:
            raise forms.ValidationError(str(error.message)) from error

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        try:
            self._times().check()
        except Invalid as error:
            for name, message in error.fields.items():
                self.add_error(name, str(message))
        return data

    def _times(self) -> RunTimes:
        """As far as they are valid."""
        expected, longest, idle = (self.cleaned_data.get(name) or None for name in ("expected", "longest", "gpu_idle"))
        return RunTimes(expected, longest, idle and -(-idle // 60))

    def launch_values(self) -> dict[str, Any]:
        """What it says for the services' requests, by their names; the form must be valid."""
        data = self.cleaned_data
        return {
            **{name: data[name] for name in ("name", "note", "tags", "ports")},
            "image_id": data["image"],
            "package_id": data["package"],
            "preemptible": not data["uninterruptible"],
            "cluster_id": data["cluster"],
            "also_ids": tuple(data["also"]),
            "cap_fen": data["cap"],
            **asdict(self._times()),
        }


def launch_initial(launch: Launch) -> dict[str, Any]:
    """The form's values from what was asked before."""
    return {
        "name": launch.name,
        "note": launch.note,
        "image": launch.image_id,
        "package": launch.package_id,
        "uninterruptible": not launch.preemptible,
        "cluster": launch.cluster_id,
        "also": list(launch.also_ids),
        "cap": yuan_text(launch.cap_fen),
        "tags": launch.tags,
        "ports": launch.ports,
        "expected": duration_text(launch.expected_s),
        "longest": duration_text(launch.longest_s),
        "gpu_idle": duration_text(None if launch.gpu_idle_minutes is None else launch.gpu_idle_minutes * 60),
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
