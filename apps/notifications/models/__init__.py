from apps.notifications.models.deliveries import Delivery
from apps.notifications.models.notices import Notice
from apps.notifications.models.preferences import Phone, Preference
from apps.notifications.models.webhooks import Webhook, WebhookAttempt, WebhookDelivery

__all__ = ["Delivery", "Notice", "Phone", "Preference", "Webhook", "WebhookAttempt", "WebhookDelivery"]
