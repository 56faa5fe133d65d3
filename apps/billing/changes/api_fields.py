"""How the API names a request that waits for a second person."""

from rest_framework import serializers

from apps.billing.change_choices import ChangeKind
from apps.billing.choices import RequestState
from apps.billing.models import ChangeRequest


class ChangeRequestRef(serializers.Serializer[ChangeRequest]):
    """A change that waits for a second person, at /api/v1/console/change-requests/<id>/.

    `before` and `terms` are what holds and what is wanted, in the fields of the endpoint that asked for it. `why` is
    the rule: `amount`, `day` (with what the requester granted today), `receipt`, `discount`, `price` or `limits`.
    """

    id = serializers.UUIDField(read_only=True)
    kind = serializers.ChoiceField(choices=ChangeKind.choices, read_only=True)
    organisation_id = serializers.UUIDField(read_only=True, allow_null=True)
    before = serializers.JSONField(read_only=True)
    terms = serializers.JSONField(read_only=True)
    why = serializers.CharField(read_only=True)
    state = serializers.ChoiceField(choices=RequestState.choices, read_only=True)
    requested_by = serializers.CharField(source="requested_by.username", read_only=True)
    decided_by = serializers.CharField(source="decided_by.username", allow_null=True, default=None, read_only=True)
    decided_at = serializers.DateTimeField(allow_null=True, read_only=True)
    answer = serializers.CharField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
