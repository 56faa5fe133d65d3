"""Prepaid time on the wire: fen, UTC."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.billing.choices import PREPAID_TERMS, PrepaidEnd, PrepaidStatus
from apps.billing.models import PrepaidOrder, PrepaidPurchase, TermPrice
from apps.billing.prepaid.selectors import PrepaidQuote, purchases
from apps.billing.prices.own import OwnPrices

OFF_HELP = "The share that the organisation's discount takes off: 0.1500 is 15 per cent."
TERMS = [(term.value, term.label) for term in PREPAID_TERMS]


class PrepaidOfferOut(serializers.Serializer[TermPrice]):
    """`id` is the price version; name it when you order, and a price that changed meanwhile is a conflict."""

    id = serializers.IntegerField(read_only=True)
    package = serializers.IntegerField(source="package_id", read_only=True)
    package_en = serializers.CharField(source="package.name_en", read_only=True)
    package_zh = serializers.CharField(source="package.name_zh", read_only=True)
    term = serializers.ChoiceField(choices=TERMS, read_only=True)
    number = serializers.IntegerField(read_only=True)
    price_fen = serializers.IntegerField(read_only=True, help_text="As listed.")
    own_price_fen = serializers.SerializerMethodField(help_text="With your organisation's discount taken off.")
    discount_off = serializers.SerializerMethodField(help_text=OFF_HELP)
    effective_from = serializers.DateTimeField(read_only=True)

    def get_own_price_fen(self, offer: TermPrice) -> int:
        return self._own.paid_ahead(offer.price_fen)

    @extend_schema_field(serializers.DecimalField(max_digits=5, decimal_places=4))
    def get_discount_off(self, offer: TermPrice) -> str:
        return f"{self._own.off:.4f}"

    @property
    def _own(self) -> OwnPrices:
        own: OwnPrices = self.context.get("own", OwnPrices())
        return own


class PrepaidQuoteOut(serializers.Serializer[PrepaidQuote]):
    price = serializers.IntegerField(source="price.pk", read_only=True)
    price_fen = serializers.IntegerField(source="price.price_fen", read_only=True)
    quantity = serializers.IntegerField(read_only=True)
    periods = serializers.IntegerField(read_only=True)
    starts_at = serializers.DateTimeField(read_only=True)
    ends_at = serializers.DateTimeField(read_only=True)
    list_fen = serializers.IntegerField(read_only=True, help_text="Before the discount.")
    discount_off = serializers.DecimalField(max_digits=5, decimal_places=4, read_only=True, help_text=OFF_HELP)
    amount_fen = serializers.IntegerField(read_only=True, help_text="To be paid.")
    by_hour_fen = serializers.IntegerField(
        allow_null=True, read_only=True, help_text="The same time by the hour, running throughout."
    )
    saved_fen = serializers.IntegerField(read_only=True)
    available_fen = serializers.IntegerField(read_only=True)
    shortfall_fen = serializers.IntegerField(read_only=True)


class PrepaidOrderOut(serializers.Serializer[PrepaidOrder]):
    """paid_fen = earned_fen + given_back_fen + left_fen, at every moment; listed_fen is before discounts."""

    id = serializers.UUIDField(read_only=True)
    package = serializers.IntegerField(source="package_id", read_only=True)
    package_en = serializers.CharField(source="package.name_en", read_only=True)
    package_zh = serializers.CharField(source="package.name_zh", read_only=True)
    quantity = serializers.IntegerField(read_only=True)
    term = serializers.ChoiceField(choices=TERMS, read_only=True)
    status = serializers.ChoiceField(choices=PrepaidStatus.choices, read_only=True)
    by = serializers.CharField(source="user.username", read_only=True)
    starts_at = serializers.DateTimeField(read_only=True)
    ends_at = serializers.DateTimeField(read_only=True, help_text="Paid until then; what `after` means in a renewal.")
    covers_until = serializers.DateTimeField(read_only=True, help_text="With the grace in which it can be renewed.")
    auto_renew = serializers.BooleanField(read_only=True)
    at_end = serializers.ChoiceField(choices=PrepaidEnd.choices, read_only=True)
    replaces = serializers.UUIDField(source="replaces_id", allow_null=True, read_only=True)
    listed_fen = serializers.IntegerField(read_only=True)
    paid_fen = serializers.IntegerField(read_only=True)
    earned_fen = serializers.IntegerField(read_only=True)
    given_back_fen = serializers.IntegerField(read_only=True)
    left_fen = serializers.IntegerField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class PrepaidPurchaseOut(serializers.Serializer[PrepaidPurchase]):
    number = serializers.IntegerField(read_only=True)
    periods = serializers.IntegerField(read_only=True)
    starts_at = serializers.DateTimeField(read_only=True)
    ends_at = serializers.DateTimeField(read_only=True)
    cut_at = serializers.DateTimeField(allow_null=True, read_only=True)
    list_fen = serializers.IntegerField(read_only=True)
    discount_off = serializers.DecimalField(max_digits=5, decimal_places=4, read_only=True, help_text=OFF_HELP)
    amount_fen = serializers.IntegerField(read_only=True)
    recognised_fen = serializers.IntegerField(read_only=True)
    returned_fen = serializers.IntegerField(read_only=True)
    automatic = serializers.BooleanField(read_only=True)


class PrepaidOrderFull(PrepaidOrderOut):
    purchases = serializers.SerializerMethodField()

    @extend_schema_field(PrepaidPurchaseOut(many=True))
    def get_purchases(self, order: PrepaidOrder) -> list[dict[str, Any]]:
        return [PrepaidPurchaseOut(each).data for each in purchases(order)]


class SeenIn(serializers.Serializer[Any]):
    """What you saw when you decided: where it has changed meanwhile, nothing is bought."""

    price = serializers.IntegerField(required=False, help_text="The price version that you saw.")
    discount_off = serializers.DecimalField(
        max_digits=5, decimal_places=4, required=False, help_text="The discount that you saw."
    )


class PrepaidOrderIn(SeenIn):
    package = serializers.IntegerField(min_value=1)
    term = serializers.ChoiceField(choices=TERMS)
    quantity = serializers.IntegerField(default=1)
    periods = serializers.IntegerField(default=1)
    auto_renew = serializers.BooleanField(default=False)
    at_end = serializers.ChoiceField(choices=PrepaidEnd.choices, default=PrepaidEnd.HOURLY)
    key = serializers.CharField(
        required=False, max_length=80, help_text="Your own number of the order; without it, the Idempotency-Key."
    )


class PrepaidRenewalIn(serializers.Serializer[Any]):
    auto_renew = serializers.BooleanField(required=False)
    at_end = serializers.ChoiceField(choices=PrepaidEnd.choices, required=False)


class PrepaidRenewIn(SeenIn):
    after = serializers.DateTimeField(help_text="`ends_at` of the order, as you saw it.")
    periods = serializers.IntegerField(default=1)


class PrepaidChangeIn(SeenIn):
    package = serializers.IntegerField(min_value=1)
    quantity = serializers.IntegerField(min_value=1)
