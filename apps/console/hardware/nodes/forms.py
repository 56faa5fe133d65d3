"""Forms about machines."""

from datetime import timedelta

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.clusters.choices import AcceleratorMode, DrainAction
from apps.clusters.models import LogicalCluster, Node


class DrainForm(forms.Form):
    """How long what runs may stay, and what then happens to it."""

    minutes = forms.IntegerField(label=_("Notice, minutes"), min_value=0, max_value=7 * 24 * 60, initial=30)
    action = forms.ChoiceField(label=_("Then"), choices=DrainAction.choices, initial=DrainAction.REQUEUE)

    @property
    def notice(self) -> timedelta:
        return timedelta(minutes=self.cleaned_data["minutes"])


class ModeForm(forms.Form):
    mode = forms.ChoiceField(label=_("Mode of every card"), choices=AcceleratorMode.choices)


class MoveForm(forms.Form):
    """Into which other logical cluster of its zone a node goes."""

    cluster = forms.ModelChoiceField(queryset=LogicalCluster.objects.none(), label=_("Cluster"), empty_label=None)

    def __init__(self, *args: object, node: Node, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        others = LogicalCluster.objects.filter(zone=node.cluster.zone_id).exclude(pk=node.cluster_id)
        self.fields["cluster"].queryset = others.order_by("name")  # type: ignore[attr-defined]

    @property
    def has_choices(self) -> bool:
        return bool(self.fields["cluster"].queryset.exists())  # type: ignore[attr-defined]


class JoinForm(forms.Form):
    """Where machines may be added, how many, and for how long the token is good."""

    cluster = forms.ModelChoiceField(queryset=LogicalCluster.objects.none(), label=_("Cluster"), empty_label=None)
    uses = forms.IntegerField(label=_("Machines"), min_value=1, max_value=100, initial=1)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        field = self.fields["cluster"]
        rows = LogicalCluster.objects.filter(zone__simulated=False, zone__removed_at__isnull=True)
        field.queryset = rows.select_related("zone").order_by("zone__name", "name")  # type: ignore[attr-defined]
        field.label_from_instance = lambda each: f"{each.zone.name} / {each.name}"  # type: ignore[attr-defined]
