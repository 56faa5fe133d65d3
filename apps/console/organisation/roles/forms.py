"""The form of a role. Every rule stands in the services."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.permissions import Permission
from apps.tenants.permission_words import words_for


class RoleForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60)
    permissions = forms.MultipleChoiceField(
        choices=[(each.value, words_for(each)) for each in Permission.every()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
