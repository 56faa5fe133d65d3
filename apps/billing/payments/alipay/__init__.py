"""Payments by Alipay: what is signed and sent, what is believed of what comes back, and what becomes of it.

`keys` and `amounts` are pure; `sdk` alone imports Alipay's SDK; `client` asks the gateway; `notices` reads what the
gateway tells; `orders`, `refunds` and `reconciling` are the only ones that move money, through the ledger.
"""
