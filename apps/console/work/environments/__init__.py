"""Every organisation's environments."""
