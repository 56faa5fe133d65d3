"""A zone that is a Kubernetes cluster; in a module of its own, and one of `clusters.models`."""

from django.db import models
from django.db.models.functions import Now


class KubernetesCluster(models.Model):
    """How the cluster behind a zone is reached, and what it was found to offer.

    `uid`: of its namespace kube-system, which tells it from every other cluster. `image`: with a Python, for shims and
    runtimes. `folder`: where its nodes have the platform's files, unless the zone's storage is NFS. `claims_cards`: by
    dynamic resource allocation, so that the very card is given that was chosen.
    """

    zone = models.OneToOneField("clusters.Zone", on_delete=models.CASCADE, primary_key=True, related_name="kubernetes")
    uid = models.CharField(max_length=64)
    sealed_config = models.BinaryField()
    image = models.CharField(max_length=300)
    folder = models.CharField(max_length=300, blank=True)
    domain = models.CharField(max_length=100, default="cluster.local")
    version = models.CharField(max_length=40, blank=True)
    claims_cards = models.BooleanField(default=False)
    user_namespaces = models.BooleanField(default=False)
    # When it last answered; since when it does not, and what came instead (`drivers.said`).
    answered_at = models.DateTimeField(db_default=Now())
    silent_since = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=400, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["uid"], name="kubernetes_cluster_once")]
