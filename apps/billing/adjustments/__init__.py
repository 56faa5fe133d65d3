"""Credit and debit notes: what the platform's staff take off a bill or add to it, with a reason."""
