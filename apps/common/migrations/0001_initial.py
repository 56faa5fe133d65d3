import django.db.models.functions.datetime
from django.db import migrations, models

from apps.common.migration_operations import LoadSQL


class Migration(migrations.Migration):

    initial = True

    # Earlier installations have these instead: see apps/common/management/commands/migrate.py.
    replaces = [
        ('common', '0001_requests'),
        ('common', '0002_processheartbeat_processreplacement'),
    ]

    dependencies = []

    operations = [
        migrations.CreateModel(
            name='IdempotentAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user_id', models.BigIntegerField()),
                ('organisation_id', models.UUIDField(null=True)),
                ('key', models.CharField(max_length=64)),
                ('path', models.CharField(max_length=64)),
                ('request', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('headers', models.JSONField(default=dict)),
                ('body', models.BinaryField(default=b'')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='idempotent_answer_age')],
                'constraints': [models.UniqueConstraint(fields=('user_id', 'organisation_id', 'key', 'path'), name='idempotent_answer_once', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='RequestCount',
            fields=[
                ('who', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('minute', models.BigIntegerField()),
                ('count', models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='ProcessHeartbeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=16)),
                ('instance', models.CharField(max_length=120)),
                ('pid', models.PositiveIntegerField()),
                ('beats', models.PositiveBigIntegerField(default=1)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('beat_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('kind', 'instance'), name='process_heartbeat_once')],
            },
        ),
        migrations.CreateModel(
            name='ProcessReplacement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=16)),
                ('instance', models.CharField(max_length=120)),
                ('pid', models.PositiveIntegerField()),
                ('silent_s', models.FloatField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('told_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['at'], name='process_replacement_age')],
            },
        ),
        LoadSQL("common", "append_only", "294eeae5"),
    ]
