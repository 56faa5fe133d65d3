"""What a person wants a file of."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.export_choices import ExportFormat, ExportKind
from apps.billing.exports.sources import SOURCES, may_export
from apps.billing.exports.wanted import ExportSpec
from apps.common.actor import Actor
from apps.common.forms import day_field


class ExportForm(forms.Form):
    """Offers the kinds that the actor may export."""

    kind = forms.ChoiceField(label=_("Rows"))
    since = day_field(_("From"), required=False)
    until = day_field(_("To"), required=False)
    q = forms.CharField(
        label=_("Contains"),
        max_length=80,
        required=False,
        help_text=_("Part of a run's or a member's name, or of a reference."),
    )
    format = forms.ChoiceField(label=_("Format"), choices=ExportFormat.choices, initial=ExportFormat.XLSX)

    def __init__(self, *args: Any, actor: Actor, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        allowed = [kind for kind in SOURCES if may_export(actor, kind)]
        self.fields["kind"].choices = [(kind.value, kind.label) for kind in allowed]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("since") and data.get("until") and data["until"] < data["since"]:
            self.add_error("until", _("The last day lies before the first."))
        return data

    def wanted(self) -> ExportSpec:
        """Of a form that is valid."""
        data = self.cleaned_data
        organisation = data.get("organisation")
        return ExportSpec(
            ExportKind(data["kind"]),
            ExportFormat(data["format"]),
            data["since"],
            data["until"],
            data["q"].strip(),
            organisation.pk if organisation else None,
        )
