import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    # Earlier installations have these instead: see apps/common/management/commands/migrate.py.
    replaces = [
        ('notifications', '0002_outbox'),
    ]

    dependencies = [
        ('tenants', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Notice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('organisation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notices', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(max_length=60)),
                ('data', models.JSONField(default=dict)),
                ('dedup', models.CharField(blank=True, default='', max_length=160)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('read_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['user', 'organisation', '-created_at'], name='notice_newest')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('dedup', ''), _negated=True), fields=('dedup',), name='notice_told_once')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('notice', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='notifications.notice')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(max_length=60)),
                ('channel', models.CharField(choices=[('email', 'E-mail'), ('sms', 'SMS')], max_length=8)),
                ('address', models.CharField(max_length=254)),
                ('state', models.CharField(choices=[('queued', 'Waiting'), ('sending', 'Being sent'), ('sent', 'Sent'), ('given_up', 'Given up'), ('unknown', 'Perhaps sent')], default='queued', max_length=10)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_try_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('put_off', models.BooleanField(default=False)),
                ('fence', models.PositiveIntegerField(default=0)),
                ('lease_until', models.DateTimeField(null=True)),
                ('error', models.CharField(blank=True, default='', max_length=300)),
                ('digest', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='carried', to='notifications.delivery')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('done_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state__in', ['queued', 'sending'])), fields=['next_try_at'], name='delivery_due'), models.Index(condition=models.Q(('state', 'sent')), fields=['user', 'channel', 'kind', 'done_at'], name='delivery_sent_lately'), models.Index(condition=models.Q(('done_at__isnull', False)), fields=['done_at'], name='delivery_done')],
                'constraints': [models.UniqueConstraint(fields=('notice', 'channel'), name='delivery_once_per_channel')],
            },
        ),
        migrations.CreateModel(
            name='Preference',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notice_preferences', to=settings.AUTH_USER_MODEL)),
                ('topic', models.CharField(choices=[('money', 'Balance and payments'), ('runs', 'Training results'), ('environments', 'Environments'), ('storage', 'Volumes and datasets'), ('people', 'Members and invitations'), ('packages', 'Package approvals'), ('security', 'Security of your account'), ('platform', 'Operation of the platform')], max_length=16)),
                ('channel', models.CharField(choices=[('email', 'E-mail'), ('sms', 'SMS')], max_length=8)),
                ('on', models.BooleanField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'topic', 'channel'), name='preference_once')],
            },
        ),
        migrations.CreateModel(
            name='Phone',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='proved_phone', to=settings.AUTH_USER_MODEL)),
                ('number', models.CharField(max_length=20)),
                ('verified_at', models.DateTimeField(null=True)),
                ('wanted', models.CharField(blank=True, default='', max_length=20)),
                ('code_hash', models.CharField(blank=True, default='', max_length=128)),
                ('code_sent_at', models.DateTimeField(null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('sent_count', models.PositiveSmallIntegerField(default=0)),
                ('counted_from', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='webhooks', to='tenants.organisation')),
                ('name', models.CharField(max_length=60, verbose_name='name')),
                ('url', models.URLField(max_length=500, verbose_name='address')),
                ('kinds', models.JSONField(default=list)),
                ('secret', models.BinaryField()),
                ('old_secret', models.BinaryField(null=True)),
                ('old_secret_until', models.DateTimeField(null=True)),
                ('active', models.BooleanField(default=True)),
                ('switched_off_at', models.DateTimeField(null=True)),
                ('failing_since', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['-created_at'],
                'constraints': [models.UniqueConstraint(fields=('organisation', 'name'), name='webhook_name_once')],
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='notifications.webhook')),
                ('kind', models.CharField(max_length=60)),
                ('data', models.JSONField(default=dict)),
                ('dedup', models.CharField(blank=True, default='', max_length=160)),
                ('state', models.CharField(choices=[('queued', 'Waiting'), ('sending', 'Being sent'), ('sent', 'Sent'), ('given_up', 'Given up'), ('unknown', 'Perhaps sent')], default='queued', max_length=10)),
                ('attempts_made', models.PositiveSmallIntegerField(default=0)),
                ('next_try_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('give_up_at', models.DateTimeField()),
                ('fence', models.PositiveIntegerField(default=0)),
                ('lease_until', models.DateTimeField(null=True)),
                ('last_status', models.PositiveSmallIntegerField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('done_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-created_at'],
                'indexes': [models.Index(condition=models.Q(('state', 'queued')), fields=['next_try_at'], name='hook_delivery_due'), models.Index(fields=['webhook', '-created_at'], name='hook_delivery_newest'), models.Index(fields=['created_at'], name='hook_delivery_age')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('dedup', ''), _negated=True), fields=('webhook', 'dedup'), name='hook_delivery_once')],
            },
        ),
        migrations.CreateModel(
            name='WebhookAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('delivery', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='notifications.webhookdelivery')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('milliseconds', models.PositiveIntegerField(default=0)),
                ('fault', models.CharField(blank=True, choices=[('', ''), ('status', 'The receiver answered with an error'), ('timeout', 'No answer in time'), ('connection', 'The connection failed'), ('tls', 'The certificate of the receiver cannot be trusted'), ('address', 'The address is not allowed or cannot be found'), ('interrupted', 'The sender was interrupted')], default='', max_length=12)),
            ],
            options={
                'ordering': ['-at', '-id'],
            },
        ),
    ]
