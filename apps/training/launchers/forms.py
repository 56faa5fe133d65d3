"""The part of a run's form that asks how many members it has, and what starts them."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.training.launchers.names import LauncherName
from apps.training.launchers.registry import ELASTIC
from apps.workloads.spec import MOST_MEMBERS


class MembersForm(forms.Form):
    several_members = " ".join(map(str, range(2, MOST_MEMBERS + 1)))  # for which a launcher is asked
    elastic_launchers = " ".join(ELASTIC)  # for which it is asked how few may go on

    members = forms.IntegerField(
        label=pgettext_lazy("of a run", "Members"), min_value=1, max_value=MOST_MEMBERS, required=False, initial=1
    )
    least_members = forms.IntegerField(
        label=_("Goes on with at least"), min_value=1, max_value=MOST_MEMBERS, required=False
    )
    launcher = forms.ChoiceField(
        label=_("Launcher"), choices=LauncherName.choices, required=False, initial=LauncherName.NONE
    )

    def chosen_members(self) -> dict[str, Any]:
        """What it says for the service's request, by its names; the form must be valid."""
        return {
            "members": self.cleaned_data["members"] or 1,
            "least_members": self.cleaned_data["least_members"] if self.may_be_fewer() else None,
            "launcher": self.chosen_launcher(),
        }

    def may_be_fewer(self) -> bool:
        """Of a launcher that starts with all members the least number is not asked for, whatever was typed before."""
        several = str(self["members"].value() or 1).strip() not in ("", "1")
        return several and self.chosen_launcher() in ELASTIC

    def chosen_launcher(self) -> LauncherName:
        """Of one member none is asked for, whatever was chosen for more."""
        several = str(self["members"].value() or 1).strip() not in ("", "1")
        value = str(self["launcher"].value() or LauncherName.NONE)
        return LauncherName(value) if several and value in LauncherName.values else LauncherName.NONE
