"""MLflow's tracking protocol over what `apps.tracking` stores: clients of MLflow log and read without being told of us.

An organisation is one experiment. A run of MLflow is a workload, or a run nested in one; runs begin as work on the
platform, not over this protocol.
"""
