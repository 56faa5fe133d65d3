"""`{% load statements %}`: the lines of a statement as they are read."""

from decimal import Decimal

from django import template
from django.utils.translation import get_language

from apps.billing.formula import plain_number
from apps.billing.models import StatementLine
from apps.billing.statements.selectors import has_charges, words
from apps.common.money import FEN_PER_YUAN

register = template.Library()
register.filter("line_words", words)
register.filter("line_opens", has_charges)


@register.filter
def line_label(line: StatementLine) -> str:
    """The package as it was called, in the reader's language."""
    return line.label_zh if (get_language() or "").startswith("zh") else line.label_en


@register.filter
def line_exact(fen: Decimal | None) -> str:
    """`1,234.5678`, `-0.0050`: yuan to four places, for columns that name the unit; a line may have no amount."""
    return "" if fen is None else f"{Decimal(fen) / FEN_PER_YUAN:,.4f}"


@register.filter
def line_price(line: StatementLine) -> str:
    """`7.80`: yuan an hour of one replica, before the discount."""
    rate = line.rate_fen_per_hour
    return "" if rate is None else plain_number(rate / FEN_PER_YUAN, least=2)


@register.filter
def off_percent(share: Decimal) -> str:
    """0.15 → `15%`; nothing for none."""
    return f"{plain_number(share * 100)}%" if share else ""
