"""Money from outside: payments by Alipay, recharges that need a second person, and their reconciliation."""
