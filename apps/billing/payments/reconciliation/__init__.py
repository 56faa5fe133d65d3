"""Our books beside Alipay's bill of each day."""
