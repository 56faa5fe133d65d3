"""Forms of invoices: the title, the request, the files."""

from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.invoice_choices import InvoiceKind, TitleKind
from apps.billing.invoices.files import MAX_BYTES, SUFFIXES, Upload, media_type_of
from apps.billing.invoices.requesting import CONTENT_MAX, NOTE_MAX, InvoiceRequest
from apps.billing.invoices.titles import TitleSpec
from apps.billing.models import InvoiceTitle
from apps.common.errors import Invalid
from apps.common.money_fields import YuanField


class TitleForm(forms.Form):
    title_kind = forms.ChoiceField(label=_("Kind of title"), choices=TitleKind.choices, initial=TitleKind.COMPANY)
    title = forms.CharField(label=_("Title"), max_length=100, help_text=_("The name as it is registered."))
    tax_number = forms.CharField(
        label=_("Unified social credit code"),
        max_length=40,
        required=False,
        help_text=_("18 characters; a person may leave it out."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    address = forms.CharField(label=_("Registered address"), max_length=200, required=False)
    phone = forms.CharField(label=_("Phone"), max_length=40, required=False)
    bank = forms.CharField(label=_("Bank"), max_length=100, required=False)
    bank_account = forms.CharField(label=_("Bank account"), max_length=40, required=False)

    def spec(self) -> TitleSpec:
        """Of a form that is valid."""
        data = self.cleaned_data
        return TitleSpec(**{**data, "title_kind": TitleKind(data["title_kind"])})


class InvoiceForm(forms.Form):
    """`key` is the request's own, made with the empty form: pressing twice asks once."""

    key = forms.CharField(max_length=80, widget=forms.HiddenInput)
    title = forms.ChoiceField(label=_("Made out to"))
    kind = forms.ChoiceField(label=_("Kind"), choices=InvoiceKind.choices, initial=InvoiceKind.ORDINARY)
    amount = YuanField(label=_("Amount"), widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}))
    content = forms.CharField(
        label=_("What it is for"),
        max_length=CONTENT_MAX,
        required=False,
        help_text=_("As it is to be printed. Empty: what the platform usually prints."),
    )
    email = forms.EmailField(
        label=_("Receiver's e-mail"), required=False, help_text=_("Where the finance staff send the file.")
    )
    note = forms.CharField(
        label=_("Note to the finance staff"),
        max_length=NOTE_MAX,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, titles: QuerySet[InvoiceTitle], **kwargs: Any) -> None:
        kwargs["initial"] = {"key": uuid4().hex, **kwargs.get("initial", {})}
        super().__init__(*args, **kwargs)
        choices = [(str(each.pk), f"{each.title} {each.tax_number}".strip()) for each in titles]
        self.fields["title"].choices = choices  # type: ignore[attr-defined]

    def wanted(self) -> InvoiceRequest:
        """Of a form that is valid."""
        data = self.cleaned_data
        return InvoiceRequest(
            UUID(data["title"]),
            InvoiceKind(data["kind"]),
            data["amount"],
            data["key"],
            data["note"].strip(),
            data["content"].strip(),
            data["email"],
        )


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class InvoiceFilesField(forms.FileField):
    """PDF, OFD and XML, cleaned to (name, content) pairs."""

    def __init__(self, **options: Any) -> None:
        attrs = {"accept": ",".join(SUFFIXES.values()), "max_bytes": MAX_BYTES}
        super().__init__(widget=ManyFiles(attrs=attrs), **options)

    def clean(self, data: Any, initial: Any = None) -> list[Upload]:
        chosen = [each for each in (data if isinstance(data, list) else [data]) if each]
        if not chosen:
            super().clean(None, initial)
        return [self._read(each) for each in chosen]

    def _read(self, file: "UploadedFile[bytes]") -> Upload:
        content = file.read(MAX_BYTES + 1)
        try:
            media_type_of(content)
        except Invalid as error:
            raise ValidationError(f"{file.name}: {error.message}") from error
        return str(file.name), content
