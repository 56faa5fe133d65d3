"""What takes two people: kinds of changes to the terms of money, and of what one person grants alone."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class AloneKind(models.TextChoices):
    """What a clerk grants without a second person, up to a limit."""

    RECHARGE = "recharge", _("Recharge")
    VOUCHER = "voucher", _("Voucher")
    REFUND = "refund", _("Refund by Alipay")
    CREDIT_LIMIT = "credit_limit", _("Credit limit")
    ADJUSTMENT = "adjustment", _("Adjustment")


class ChangeKind(models.TextChoices):
    """What a request to change terms of money is about."""

    CREDIT_LIMIT = "credit_limit", _("Credit limit")
    DISCOUNT = "discount", _("Discount")
    PACKAGE_PRICE = "package_price", _("Price of a package")
    UNIT_PRICE = "unit_price", _("Price of the list")
    STORAGE_PRICE = "storage_price", _("Price of storage")
    TERM_PRICE = "term_price", _("Price by the period")
    LIMITS = "limits", _("What one person may do alone")
