"""Writing environments: `create`, `running`, `changing`, `snapshots`, `recycle_bin`, `expiry`, `tools`."""
