"""Every organisation's volumes and datasets."""
