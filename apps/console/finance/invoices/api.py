"""/api/v1/console/invoices/: approving, denying, issuing and voiding invoices."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.invoices import issuing as invoicing
from apps.billing.invoices import selectors as reads
from apps.billing.invoices.api import FILE, InvoiceDetailOut, InvoiceOut
from apps.billing.invoices.downloads import download
from apps.billing.invoices.files import MAX_BYTES
from apps.billing.invoices.requesting import CONTENT_MAX
from apps.billing.models import Invoice
from apps.common.access import on_platform
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission as P
from apps.console.finance.invoices.listing import InvoiceFilter
from apps.console.kit.api import Named

TAGS = ["console: finance"]
VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
MANAGE = on_platform(P.PLATFORM_INVOICES_MANAGE)


class StaffInvoiceOut(InvoiceOut):
    organisation = Named(read_only=True)


class StaffInvoiceDetailOut(InvoiceDetailOut):
    organisation = Named(read_only=True)


class InvoiceAnswerIn(serializers.Serializer[Any]):
    answer = serializers.CharField(max_length=invoicing.REASON_MAX)


class InvoiceVoidIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=invoicing.REASON_MAX)
    red_number = serializers.CharField(required=False, allow_blank=True, max_length=24, default="")


class IssueIn(serializers.Serializer[Any]):
    """`files`: the invoice as PDF, OFD or XML; the field may be given several times."""

    number = serializers.CharField(max_length=24)
    issued_on = serializers.DateField()
    tax_percent = serializers.DecimalField(
        max_digits=5, decimal_places=2, min_value=0, max_value=100, required=False, allow_null=True, default=None
    )
    content = serializers.CharField(required=False, allow_null=True, max_length=CONTENT_MAX, default=None)
    files = serializers.ListField(child=serializers.FileField(), min_length=1, max_length=5)


class Answering(ScopedView):
    def answer(self, found: Invoice) -> Response:
        return Response(StaffInvoiceOut(reads.invoice(self.actor, found.pk)).data)


@extend_schema(tags=TAGS)
class StaffInvoices(ScopedView, generics.ListAPIView[Invoice]):
    access = VIEW
    queryset = Invoice.objects.none()
    serializer_class = StaffInvoiceOut
    pagination_class = CreatedCursor
    filterset_class = InvoiceFilter

    def get_queryset(self) -> QuerySet[Invoice]:
        return reads.invoices(self.actor)


@extend_schema(tags=TAGS, responses=StaffInvoiceDetailOut)
class StaffInvoiceDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, invoice_id: UUID) -> Response:
        found = reads.invoice(self.actor, invoice_id)
        return Response(StaffInvoiceDetailOut(found, context={"actor": self.actor}).data)


@extend_schema(tags=TAGS, request=None, responses=StaffInvoiceOut)
class InvoiceApprove(Answering):
    access = MANAGE

    def post(self, request: Request, invoice_id: UUID) -> Response:
        """It will be issued."""
        return self.answer(invoicing.approve(self.actor, invoice_id=invoice_id))


@extend_schema(tags=TAGS, request=InvoiceAnswerIn, responses=StaffInvoiceOut)
class InvoiceDeny(Answering):
    access = MANAGE

    def post(self, request: Request, invoice_id: UUID) -> Response:
        """Refuse with a reason; the amount is free again."""
        given = InvoiceAnswerIn(data=request.data)
        given.is_valid(raise_exception=True)
        return self.answer(invoicing.deny(self.actor, invoice_id=invoice_id, answer=given.validated_data["answer"]))


@extend_schema(tags=TAGS, request={"multipart/form-data": IssueIn}, responses=StaffInvoiceOut)
class InvoiceIssue(Answering):
    access = MANAGE
    parser_classes = (MultiPartParser,)

    def post(self, request: Request, invoice_id: UUID) -> Response:
        """Record number, day and files of an invoice that the tax bureau's system has issued."""
        given = IssueIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        uploads = [(str(file.name), file.read(MAX_BYTES + 1)) for file in data["files"]]
        issue = invoicing.Issue(data["number"], data["issued_on"], uploads, data["tax_percent"], data["content"])
        return self.answer(invoicing.issue(self.actor, invoice_id=invoice_id, given=issue))


@extend_schema(tags=TAGS, request=InvoiceVoidIn, responses=StaffInvoiceOut)
class InvoiceVoid(Answering):
    access = MANAGE

    def post(self, request: Request, invoice_id: UUID) -> Response:
        """Record that a red invoice took it back; the amount is free again."""
        given = InvoiceVoidIn(data=request.data)
        given.is_valid(raise_exception=True)
        return self.answer(invoicing.void(self.actor, invoice_id=invoice_id, **given.validated_data))


@extend_schema(tags=TAGS, responses=FILE)
class StaffInvoiceContent(ScopedView):
    access = VIEW

    def get(self, request: Request, file_id: int) -> HttpResponse:
        """One of an invoice's files."""
        return download(reads.file(self.actor, file_id))
