"""`{% load charges %}`: how a charge comes about."""

from django import template

from apps.billing.formula import calculation, discount_factor, exact_yuan, plain_number, yuan_per_hour

register = template.Library()
register.filter("calculation", calculation)
register.filter("charge_exact", exact_yuan)
register.filter("charge_kept", discount_factor)
register.filter("charge_price", yuan_per_hour)
register.filter("plain", plain_number)
