"""Names of the API's enums: two that are called alike in their tables have names of their own in its document."""

ENUM_NAMES: dict[str, str | list[str]] = {
    "AcceleratorModeEnum": "apps.clusters.choices.AcceleratorMode",
    "ArrearsStatusEnum": "apps.billing.choices.ArrearsStatus",
    "BudgetScopeEnum": "apps.billing.choices.BudgetScope",
    "DeliveryStateEnum": "apps.notifications.choices.DeliveryState",
    "HookFaultEnum": "apps.notifications.choices.HookFault",
    "RequestStateEnum": "apps.billing.choices.RequestState",
    "FaultEnum": "apps.workloads.choices.Fault",
    "WorkloadStatusEnum": "apps.workloads.choices.Status",
    "EnvironmentStateEnum": "apps.envs.choices.State",
    "EnvironmentStepEnum": "apps.envs.choices.Step",
    "EnvironmentStepStatusEnum": "apps.envs.choices.StepStatus",
    "MountKindEnum": ["volume", "version"],
    "NodeStatusEnum": "apps.clusters.choices.NodeStatus",
    "OrganisationStatusEnum": "apps.tenants.choices.OrganisationStatus",
    "PrepaidStatusEnum": "apps.billing.choices.PrepaidStatus",
    "PrepaidTermEnum": ["day", "month", "year"],
    "TopUpStatusEnum": "apps.billing.choices.TopUpStatus",
    "RechargeKindEnum": "apps.billing.choices.RechargeKind",
    "ScenarioStatusEnum": "apps.whatif.choices.ScenarioStatus",
    "ScenarioChangeEnum": "apps.whatif.choices.ChangeKind",
}
