"""The API of what is sent to oneself, and of the phone that SMS go to."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import SELF
from apps.common.api import ScopedView
from apps.notifications import selectors
from apps.notifications.choices import Channel, Topic
from apps.notifications.services import phones
from apps.notifications.services.preferences import set_preferences


class PreferenceSerializer(serializers.Serializer[Any]):
    """`fixed`: sent whatever one chooses, as mails about money are to administrators."""

    topic = serializers.ChoiceField(choices=Topic.choices)
    channel = serializers.ChoiceField(choices=Channel.choices)
    on = serializers.BooleanField()
    fixed = serializers.BooleanField(read_only=True)


class PhoneSerializer(serializers.Serializer[Any]):
    number = serializers.CharField(help_text="Confirmed, in E.164; empty for none.")
    waiting_for = serializers.CharField(source="wanted", help_text="The number that a code was sent to.")
    verified_at = serializers.DateTimeField(allow_null=True)


class NumberSerializer(serializers.Serializer[Any]):
    number = serializers.CharField(max_length=30)


class CodeSerializer(serializers.Serializer[Any]):
    code = serializers.CharField(max_length=12)


class PreferencesView(ScopedView):
    access = SELF

    @extend_schema(responses=PreferenceSerializer(many=True), tags=["notices"])
    def get(self, request: Request) -> Response:
        """What is sent to oneself, for each topic and way out; in the page notices always stand."""
        return Response(self._now())

    @extend_schema(request=PreferenceSerializer(many=True), responses=PreferenceSerializer(many=True), tags=["notices"])
    def patch(self, request: Request) -> Response:
        """Change some of them; the others stay, and what is `fixed` stays on."""
        asked = PreferenceSerializer(data=request.data, many=True)
        asked.is_valid(raise_exception=True)
        wanted = selectors.choices_of(self.actor.person())
        for each in asked.validated_data:
            wanted[Topic(each["topic"]), Channel(each["channel"])] = each["on"]
        set_preferences(self.actor, [choice for choice, on in wanted.items() if on])
        return Response(self._now())

    def _now(self) -> Any:
        person = self.actor.person()
        wanted, fixed = selectors.choices_of(person), selectors.fixed_choices(person)
        rows = [
            {
                "topic": topic,
                "channel": channel,
                "on": wanted[topic, channel],
                "fixed": (topic, channel) in fixed,
            }
            for topic in selectors.offered_topics(person)
            for channel in Channel
        ]
        return PreferenceSerializer(rows, many=True).data


class PhoneView(ScopedView):
    access = SELF

    @extend_schema(responses=PhoneSerializer, tags=["notices"])
    def get(self, request: Request) -> Response:
        """The phone that SMS go to."""
        return Response(self._now())

    @extend_schema(request=NumberSerializer, responses=PhoneSerializer, tags=["notices"])
    def post(self, request: Request) -> Response:
        """Send a code to a number; the number counts once the code has come back."""
        asked = NumberSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        phones.send_code(self.actor, number=asked.validated_data["number"])
        return Response(self._now())

    @extend_schema(request=None, responses={200: PhoneSerializer}, tags=["notices"])
    def delete(self, request: Request) -> Response:
        """Send no SMS any more."""
        phones.remove(self.actor)
        return Response(self._now())

    def _now(self) -> Any:
        phone = selectors.phone_of(self.actor.person())
        return PhoneSerializer(phone or {"number": "", "wanted": "", "verified_at": None}).data


class PhoneConfirmView(PhoneView):
    http_method_names = ["post", "options"]

    @extend_schema(request=CodeSerializer, responses=PhoneSerializer, tags=["notices"])
    def post(self, request: Request) -> Response:
        """Confirm the number with the code that was sent there."""
        asked = CodeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        phones.confirm(self.actor, code=asked.validated_data["code"])
        return Response(self._now())
