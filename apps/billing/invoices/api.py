"""/api/v1/invoices/ and /api/v1/invoice-titles/: asking for invoices, and fetching them."""

from typing import Any
from uuid import UUID, uuid4

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.invoice_choices import InvoiceKind, InvoiceState, TitleKind
from apps.billing.invoices import requesting as invoices
from apps.billing.invoices import selectors as reads
from apps.billing.invoices import titles as invoice_titles
from apps.billing.invoices.downloads import download
from apps.billing.invoices.files import SUFFIXES
from apps.billing.invoices.requesting import CONTENT_MAX, NOTE_MAX, InvoiceRequest
from apps.billing.invoices.titles import TitleSpec
from apps.billing.models import Invoice, InvoiceFile, InvoiceTitle
from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.pagination import CreatedCursor
from apps.common.permissions import Permission

TAGS = ["money"]
VIEW = in_organisation(Permission.BILLING_VIEW)
ASK = in_organisation(Permission.BILLING_TOP_UP)
FILE = {(200, media_type): OpenApiResponse(OpenApiTypes.BINARY, description="The file.") for media_type in SUFFIXES}


class PartyFields(serializers.Serializer[Any]):
    title_kind = serializers.ChoiceField(choices=TitleKind.choices)
    title = serializers.CharField(max_length=100)
    tax_number = serializers.CharField(max_length=40, required=False, allow_blank=True, default="")
    address = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    phone = serializers.CharField(max_length=40, required=False, allow_blank=True, default="")
    bank = serializers.CharField(max_length=100, required=False, allow_blank=True, default="")
    bank_account = serializers.CharField(max_length=40, required=False, allow_blank=True, default="")


class TitleIn(PartyFields):
    """A company's tax_number is its unified social credit code (GB 32100)."""

    def spec(self) -> TitleSpec:
        return TitleSpec(**{**self.validated_data, "title_kind": TitleKind(self.validated_data["title_kind"])})


class TitleOut(PartyFields):
    id = serializers.UUIDField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class FileOut(serializers.Serializer[InvoiceFile]):
    id = serializers.IntegerField(read_only=True)
    name = serializers.CharField(read_only=True)
    media_type = serializers.CharField(read_only=True)
    size = serializers.IntegerField(read_only=True)
    sha256 = serializers.CharField(source="digest", read_only=True)


class InvoiceOut(PartyFields):
    """`answer`: why it was denied. `number` and `issued_on` once it is issued."""

    id = serializers.UUIDField(read_only=True)
    kind = serializers.ChoiceField(choices=InvoiceKind.choices, read_only=True)
    amount_fen = serializers.IntegerField(read_only=True)
    state = serializers.ChoiceField(choices=InvoiceState.choices, read_only=True)
    note = serializers.CharField(read_only=True)
    content = serializers.CharField(read_only=True)
    email = serializers.CharField(read_only=True)
    tax_percent = serializers.DecimalField(max_digits=5, decimal_places=2, allow_null=True, read_only=True)
    net_fen = serializers.IntegerField(allow_null=True, read_only=True)
    tax_fen = serializers.IntegerField(allow_null=True, read_only=True)
    requested_by = serializers.CharField(source="requested_by.username", read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    decided_at = serializers.DateTimeField(allow_null=True, read_only=True)
    answer = serializers.CharField(read_only=True)
    number = serializers.CharField(read_only=True)
    issued_on = serializers.DateField(allow_null=True, read_only=True)
    void_reason = serializers.CharField(read_only=True)
    red_number = serializers.CharField(read_only=True)


class InvoiceDetailOut(InvoiceOut):
    files = serializers.SerializerMethodField()

    @extend_schema_field(FileOut(many=True))
    def get_files(self, found: Invoice) -> Any:
        return FileOut(list(reads.files(self.context["actor"], found)), many=True).data  # type: ignore[arg-type]


class InvoiceIn(serializers.Serializer[Any]):
    title = serializers.UUIDField(help_text="One of the organisation's titles.")
    kind = serializers.ChoiceField(choices=InvoiceKind.choices, default=InvoiceKind.ORDINARY)
    amount_fen = serializers.IntegerField(min_value=1, max_value=10**15)
    note = serializers.CharField(required=False, allow_blank=True, max_length=NOTE_MAX, default="")
    content = serializers.CharField(
        required=False, allow_blank=True, max_length=CONTENT_MAX, default="", help_text="What it is for, as printed."
    )
    email = serializers.EmailField(required=False, allow_blank=True, max_length=254, default="")


class RoomOut(serializers.Serializer[Any]):
    """Fen. Paid: top-ups less what was given back. Claimed: asked for or issued; excess: above what was paid."""

    paid_fen = serializers.IntegerField()
    claimed_fen = serializers.IntegerField()
    issued_fen = serializers.IntegerField()
    available_fen = serializers.IntegerField()
    excess_fen = serializers.IntegerField()


@extend_schema(tags=TAGS)
class Titles(ScopedView, generics.ListAPIView[InvoiceTitle]):
    access = {"get": VIEW, "post": ASK}
    queryset = InvoiceTitle.objects.none()
    serializer_class = TitleOut
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[InvoiceTitle]:
        return reads.titles(self.actor)

    @extend_schema(request=TitleIn, responses={201: TitleOut})
    def post(self, request: Request) -> Response:
        """Keep a title. The same name and number again is the one that is there."""
        given = TitleIn(data=request.data)
        given.is_valid(raise_exception=True)
        made = invoice_titles.add_title(self.actor, spec=given.spec())
        return Response(TitleOut(made).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=TAGS, responses=TitleOut)
class TitleDetail(ScopedView):
    access = {"get": VIEW, "put": ASK, "delete": ASK}

    def get(self, request: Request, title_id: UUID) -> Response:
        return Response(TitleOut(reads.title(self.actor, title_id)).data)

    @extend_schema(request=TitleIn)
    def put(self, request: Request, title_id: UUID) -> Response:
        """Change it; invoices asked for before keep what they were asked for with."""
        reads.title(self.actor, title_id)
        given = TitleIn(data=request.data)
        given.is_valid(raise_exception=True)
        changed = invoice_titles.change_title(self.actor, title_id=title_id, spec=given.spec())
        return Response(TitleOut(changed).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, title_id: UUID) -> Response:
        """Put it away."""
        invoice_titles.remove_title(self.actor, title_id=title_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(tags=TAGS, responses=RoomOut)
class InvoiceRoom(ScopedView):
    access = VIEW

    def get(self, request: Request) -> Response:
        """How much may still be invoiced."""
        return Response(RoomOut(reads.invoicing_headroom(self.actor)).data)


@extend_schema(tags=TAGS)
class Invoices(ScopedView, generics.ListAPIView[Invoice]):
    access = {"get": VIEW, "post": ASK}
    queryset = Invoice.objects.none()
    serializer_class = InvoiceOut
    pagination_class = CreatedCursor

    def get_queryset(self) -> QuerySet[Invoice]:
        return reads.invoices(self.actor)

    @extend_schema(request=InvoiceIn, responses={201: InvoiceOut})
    def post(self, request: Request) -> Response:
        """Ask for an invoice over at most what was paid and is not spoken for."""
        given = InvoiceIn(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        key = request.headers.get("Idempotency-Key", "")[: invoices.KEY_MAX] or uuid4().hex
        wanted = InvoiceRequest(
            data["title"],
            InvoiceKind(data["kind"]),
            data["amount_fen"],
            key,
            data["note"].strip(),
            data["content"].strip(),
            data["email"],
        )
        made = invoices.request_invoice(self.actor, wanted=wanted)
        return Response(InvoiceOut(made).data, status=status.HTTP_201_CREATED)


@extend_schema(tags=TAGS, responses=InvoiceDetailOut)
class InvoiceDetail(ScopedView):
    access = VIEW

    def get(self, request: Request, invoice_id: UUID) -> Response:
        found = reads.invoice(self.actor, invoice_id)
        return Response(InvoiceDetailOut(found, context={"actor": self.actor}).data)


@extend_schema(tags=TAGS, request=None, responses=InvoiceOut)
class InvoiceWithdraw(ScopedView):
    access = ASK

    def post(self, request: Request, invoice_id: UUID) -> Response:
        """Take a request back while nobody has decided on it."""
        return Response(InvoiceOut(invoices.withdraw_invoice(self.actor, invoice_id=invoice_id)).data)


@extend_schema(tags=TAGS, responses=FILE)
class InvoiceContent(ScopedView):
    access = VIEW

    def get(self, request: Request, file_id: int) -> HttpResponse:
        """One of an invoice's files."""
        return download(reads.file(self.actor, file_id))
