"""Payments by Alipay: signing and sending requests, verifying what comes back, and acting on it.

`keys` and `amounts` are pure; `sdk` alone imports Alipay's SDK; `client` asks the gateway; `notices` verifies the
gateway's notices; `orders`, `refunds` and `reconciling` are the only ones that move money, through the ledger.
"""
