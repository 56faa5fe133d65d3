"""What the API tells of cards and of their faults."""

from rest_framework import serializers

from apps.clusters.choices import AcceleratorMode, Limiter
from apps.clusters.fault_words import meaning, remedy_words, trouble_text
from apps.clusters.models import Accelerator, CardFault
from apps.clusters.xids import Remedy


class AcceleratorOut(serializers.Serializer[Accelerator]):
    id = serializers.UUIDField(read_only=True)
    uuid = serializers.CharField(read_only=True)
    index = serializers.IntegerField(read_only=True)
    vendor = serializers.CharField(read_only=True)
    model = serializers.CharField(read_only=True)
    memory_mib = serializers.IntegerField(read_only=True)
    mode = serializers.ChoiceField(choices=AcceleratorMode.choices, read_only=True)
    healthy = serializers.BooleanField(read_only=True)
    trouble = serializers.CharField(
        read_only=True,
        help_text="Why it is not healthy: lost, reset, restart, unread, driver, library, absent, cut, fault.",
    )
    trouble_text = serializers.SerializerMethodField(help_text="The same in words, with what to do.")
    unhealthy_since = serializers.DateTimeField(read_only=True, allow_null=True)
    limiter = serializers.ChoiceField(
        choices=Limiter.choices, read_only=True, help_text="What holds vGPU slices to their memory."
    )
    partition = serializers.CharField(read_only=True, help_text="The compute partition of an AMD card.")
    pci = serializers.CharField(read_only=True, help_text="Its PCI address; empty where it is not known.")
    numa = serializers.IntegerField(read_only=True, allow_null=True, help_text="Its NUMA node.")
    links = serializers.DictField(
        child=serializers.CharField(),
        read_only=True,
        help_text="How it is connected to the node's other cards, by uuid: NV and a number, PIX, PXB, PHB, NODE, SYS.",
    )
    utilisation_pct = serializers.FloatField(read_only=True, allow_null=True)
    memory_used_mib = serializers.IntegerField(read_only=True, allow_null=True)
    temperature_c = serializers.IntegerField(read_only=True, allow_null=True)
    power_w = serializers.FloatField(read_only=True, allow_null=True)

    def get_trouble_text(self, card: Accelerator) -> str:
        return trouble_text(card)


class CardFaultOut(serializers.Serializer[CardFault]):
    """A fault as the card's driver wrote it into the kernel's log: an XID."""

    accelerator_id = serializers.UUIDField(read_only=True)
    code = serializers.IntegerField(read_only=True, help_text="The XID.")
    meaning = serializers.SerializerMethodField()
    remedy = serializers.ChoiceField(
        choices=[each.value for each in Remedy], read_only=True, help_text="What it asks for; app: start it again."
    )
    remedy_text = serializers.SerializerMethodField()
    stands = serializers.BooleanField(read_only=True, help_text="Whether it keeps work away from the card now.")
    at = serializers.DateTimeField(read_only=True, help_text="The first time, by the machine's clock.")
    last_at = serializers.DateTimeField(read_only=True)
    pid = serializers.IntegerField(read_only=True, help_text="Of the program on the card; 0: not known.")
    process = serializers.CharField(read_only=True)
    text = serializers.CharField(read_only=True, help_text="The driver's own words.")
    boot_id = serializers.UUIDField(read_only=True, help_text="In which start of the machine it came.")
    resolved_at = serializers.DateTimeField(read_only=True, allow_null=True, help_text="When a reset was confirmed.")
    resolved_by = serializers.CharField(read_only=True)

    def get_meaning(self, fault: CardFault) -> str:
        return meaning(fault.code)

    def get_remedy_text(self, fault: CardFault) -> str:
        return remedy_words(fault)
