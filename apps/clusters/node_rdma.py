"""What a node offers to work that asks for RDMA, by what it last told of its devices."""

from apps.clusters.models import Node
from apps.clusters.rdma import Fabric, RdmaDevice, fabric_of


def rdma_devices(node: Node) -> tuple[RdmaDevice, ...]:
    return tuple(RdmaDevice.from_json(kept) for kept in node.rdma)


def rdma_of(node: Node) -> Fabric:
    return fabric_of(rdma_devices(node))
