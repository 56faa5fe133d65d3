"""Thousands stand apart in Chinese as in English: Django writes 1400 where money beside it reads ¥1,400.00."""

THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
