"""The price list: what a core, a GiB or a card costs."""
