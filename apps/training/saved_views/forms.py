"""What is asked when a view is saved or changed."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.training.saved_views.services import LONGEST_NAME


class ViewForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=LONGEST_NAME)
    shared = forms.BooleanField(
        label=_("For the whole organisation"),
        required=False,
        help_text=_("Colleagues find it; each sees only the runs that they may see anyway."),
    )
