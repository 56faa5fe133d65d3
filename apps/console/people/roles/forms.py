"""The form of a platform role."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.permissions import Permission
from apps.tenants.permission_words import words_for


class PlatformRoleForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60)
    permissions = forms.MultipleChoiceField(
        choices=[(each.value, words_for(each)) for each in Permission],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
