"""Writing environments: `create`, `running`, `changing`, `snapshots`, `binning`, `expiry`, `tools`."""
