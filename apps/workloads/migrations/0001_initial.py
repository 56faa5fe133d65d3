import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    # Earlier installations have these instead: see apps/common/management/commands/migrate.py.
    replaces = [
        ('workloads', '0003_newest_of_all'),
        ('workloads', '0004_kinds'),
        ('workloads', '0005_gateway'),
        ('workloads', '0006_queueing'),
        ('workloads', '0007_placements_released'),
        ('workloads', '0008_attempts_placed'),
        ('workloads', '0009_credits_due'),
        ('workloads', '0010_promised'),
        ('workloads', '0011_stop_after_saving'),
        ('workloads', '0012_tags'),
        ('workloads', '0013_price_of_what_was_given'),
        ('workloads', '0014_lost_attempts'),
        ('workloads', '0015_standing'),
        ('workloads', '0016_gone_attempts'),
    ]

    dependencies = [
        ('billing', '0001_initial'),
        ('clusters', '0001_initial'),
        ('tenants', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='RecentUse',
            fields=[
                ('organisation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='tenants.organisation')),
                ('simulated_gpu_milli_s', models.FloatField(default=0)),
                ('gpu_milli_s', models.FloatField(default=0)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='SchedulerEpoch',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('number', models.PositiveBigIntegerField(default=0)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('milliseconds', models.PositiveIntegerField(default=0)),
                ('waiting', models.PositiveIntegerField(default=0)),
                ('mix', models.JSONField(default=dict)),
                ('standing', models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='Workload',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('department_id', models.UUIDField(null=True)),
                ('kind', models.CharField(choices=[('training', 'Training'), ('environment', 'Environment')], max_length=16)),
                ('name', models.CharField(max_length=120)),
                ('spec', models.JSONField()),
                ('priority', models.PositiveSmallIntegerField(default=3)),
                ('submit_key', models.CharField(max_length=64)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), db_default=[], default=list, size=None)),
                ('tag_keys', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), db_default=[], default=list, size=None)),
                ('desired', models.CharField(choices=[('running', 'Running'), ('stopped', 'Stopped')], default='running', max_length=8)),
                ('generation', models.PositiveIntegerField(default=1)),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('placed', 'Placed'), ('starting', 'Starting'), ('running', 'Running'), ('stopping', 'Stopping'), ('succeeded', 'Finished'), ('failed', 'Failed'), ('stopped', 'Stopped')], default='queued', max_length=12)),
                ('reason', models.CharField(blank=True, default='submitted', max_length=32)),
                ('reason_data', models.JSONField(default=dict)),
                ('fault', models.CharField(blank=True, choices=[('', 'Nobody'), ('user', 'Your program'), ('platform', 'The platform'), ('node', 'The node')], default='', max_length=10)),
                ('attempt_number', models.PositiveSmallIntegerField(default=0)),
                ('explanation', models.JSONField(default=dict)),
                ('explained_at', models.DateTimeField(null=True)),
                ('promised_nodes', models.JSONField(default=list)),
                ('promised_at', models.DateTimeField(null=True)),
                ('stop_reason', models.CharField(blank=True, default='', max_length=32)),
                ('stop_by', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('status_since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('queued_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='workloads', to='tenants.organisation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='workloads', to=settings.AUTH_USER_MODEL)),
                ('package', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.package')),
                ('price_version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.priceversion')),
            ],
        ),
        migrations.CreateModel(
            name='StartEstimate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('after_attempt', models.PositiveSmallIntegerField(default=0)),
                ('cause', models.CharField(max_length=24)),
                ('made_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('start_p50', models.DateTimeField()),
                ('start_p90', models.DateTimeField()),
                ('started_at', models.DateTimeField(null=True)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.organisation')),
                ('workload', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='start_estimates', to='workloads.workload')),
            ],
        ),
        migrations.CreateModel(
            name='GatewaySession',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('port', models.CharField(max_length=24)),
                ('portal_session', models.CharField(max_length=40)),
                ('portal', models.CharField(max_length=300)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField()),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.organisation')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('workload', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workloads.workload')),
            ],
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt_number', models.PositiveSmallIntegerField(default=0)),
                ('kind', models.CharField(max_length=32)),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('placed', 'Placed'), ('starting', 'Starting'), ('running', 'Running'), ('stopping', 'Stopping'), ('succeeded', 'Finished'), ('failed', 'Failed'), ('stopped', 'Stopped')], max_length=12)),
                ('reason', models.CharField(blank=True, max_length=32)),
                ('data', models.JSONField(default=dict)),
                ('actor_label', models.CharField(max_length=200)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('workload', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='workloads.workload')),
            ],
        ),
        migrations.CreateModel(
            name='EntryCode',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('port', models.CharField(max_length=24)),
                ('portal_session', models.CharField(max_length=40)),
                ('portal', models.CharField(max_length=300)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField()),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.organisation')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('workload', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workloads.workload')),
            ],
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveSmallIntegerField()),
                ('handle', models.JSONField(null=True)),
                ('fence', models.PositiveIntegerField(default=0)),
                ('lease_until', models.DateTimeField(null=True)),
                ('next_check_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('seen_at', models.DateTimeField(null=True)),
                ('placed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('ran_for_s', models.FloatField(null=True)),
                ('phase', models.CharField(blank=True, max_length=12)),
                ('steps', models.JSONField(default=dict)),
                ('progress', models.JSONField(default=dict)),
                ('usage', models.JSONField(default=dict)),
                ('peak_memory_mib', models.PositiveIntegerField(null=True)),
                ('peak_cpu_milli', models.PositiveIntegerField(null=True)),
                ('peak_gpu_memory_mib', models.PositiveIntegerField(null=True)),
                ('peak_gpu_util_pct', models.FloatField(null=True)),
                ('checkpoint_at', models.DateTimeField(null=True)),
                ('exit_code', models.IntegerField(null=True)),
                ('exit_signal', models.IntegerField(null=True)),
                ('exit_reason', models.CharField(blank=True, max_length=16)),
                ('exit_detail', models.TextField(blank=True)),
                ('stop_asked_at', models.DateTimeField(null=True)),
                ('given_up_at', models.DateTimeField(null=True)),
                ('gone_at', models.DateTimeField(null=True)),
                ('fault', models.CharField(blank=True, choices=[('', 'Nobody'), ('user', 'Your program'), ('platform', 'The platform'), ('node', 'The node')], db_default='', default='', max_length=10)),
                ('lost_s', models.FloatField(null=True)),
                ('credited_fen', models.BigIntegerField(db_default=0, default=0)),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='clusters.node')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('workload', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='workloads.workload')),
            ],
            options={
                'ordering': ['workload', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Activity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(choices=[('gateway', 'Browser'), ('ssh', 'SSH')], max_length=8)),
                ('process', models.CharField(max_length=64)),
                ('connections', models.PositiveIntegerField(default=0)),
                ('last_request_at', models.DateTimeField(null=True)),
                ('last_input_at', models.DateTimeField(null=True)),
                ('heartbeat_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.organisation')),
                ('workload', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='activity', to='workloads.workload')),
            ],
        ),
        migrations.CreateModel(
            name='Placement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cpu_milli', models.PositiveIntegerField(default=0)),
                ('memory_mib', models.PositiveIntegerField(default=0)),
                ('device_memory_mib', models.PositiveIntegerField(default=0)),
                ('core_milli', models.PositiveIntegerField(default=0)),
                ('mig_start', models.PositiveSmallIntegerField(null=True)),
                ('mig_profile', models.CharField(blank=True, max_length=24)),
                ('exclusive', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('released_at', models.DateTimeField(null=True)),
                ('accelerator', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='placements', to='clusters.accelerator')),
                ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='placements', to='workloads.attempt')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='placements', to='clusters.node')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('released_at__isnull', True)), fields=['node'], name='placement_held'), models.Index(fields=['released_at'], name='placement_released')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('exclusive', True), ('released_at__isnull', True)), fields=('accelerator',), name='whole_card_once'), models.UniqueConstraint(condition=models.Q(('mig_start__isnull', False), ('released_at__isnull', True)), fields=('accelerator', 'mig_start'), name='mig_slice_once')],
            },
        ),
        migrations.CreateModel(
            name='Preemption',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('for_workload_id', models.UUIDField()),
                ('why', models.CharField(choices=[('higher_priority', 'Higher priority in the same organisation'), ('guarantee', "Another organisation's guarantee")], max_length=16)),
                ('asked_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('leave_at', models.DateTimeField()),
                ('kill_at', models.DateTimeField()),
                ('outcome', models.CharField(choices=[('asked', 'Asked to give way'), ('requeued', 'Saved and queued again, first in line'), ('finished', 'Ended by itself before'), ('called_off', 'Called off: the room was no longer needed')], default='asked', max_length=12)),
                ('ended_at', models.DateTimeField(null=True)),
                ('lost_s', models.FloatField(null=True)),
                ('credited_fen', models.BigIntegerField(default=0)),
                ('attempt', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='preemption', to='workloads.attempt')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.organisation')),
            ],
            options={
                'ordering': ['-asked_at', '-pk'],
                'indexes': [models.Index(fields=['-asked_at'], name='preemption_newest'), models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['leave_at'], name='preemption_open'), models.Index(condition=models.Q(('lost_s__isnull', True), ('outcome', 'requeued')), fields=['id'], name='preemption_uncredited')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kill_at__gte', models.F('leave_at')), ('leave_at__gte', models.F('asked_at'))), name='preemption_in_order')],
            },
        ),
        migrations.AddIndex(
            model_name='workload',
            index=models.Index(fields=['organisation', '-created_at'], name='workload_newest'),
        ),
        migrations.AddIndex(
            model_name='workload',
            index=models.Index(fields=['owner', '-created_at'], name='workload_owner_newest'),
        ),
        migrations.AddIndex(
            model_name='workload',
            index=models.Index(fields=['-created_at', '-id'], name='workload_newest_of_all'),
        ),
        migrations.AddIndex(
            model_name='workload',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['-ended_at'], name='workload_failed'),
        ),
        migrations.AddIndex(
            model_name='workload',
            index=models.Index(condition=models.Q(('status', 'queued')), fields=['queued_at'], name='workload_waiting'),
        ),
        migrations.AddIndex(
            model_name='workload',
            index=models.Index(condition=models.Q(('status__in', ['placed', 'queued', 'running', 'starting', 'stopping'])), fields=['status'], name='workload_live'),
        ),
        migrations.AddIndex(
            model_name='workload',
            index=models.Index(condition=models.Q(('stop_by__isnull', False)), fields=['stop_by'], name='workload_to_stop'),
        ),
        migrations.AddIndex(
            model_name='workload',
            index=models.Index(condition=models.Q(('promised_at__isnull', False)), fields=['promised_at'], name='workload_promised'),
        ),
        migrations.AddIndex(
            model_name='workload',
            index=django.contrib.postgres.indexes.GinIndex(fields=['tag_keys'], name='workload_tagged'),
        ),
        migrations.AddConstraint(
            model_name='workload',
            constraint=models.UniqueConstraint(fields=('organisation', 'owner', 'submit_key'), name='workload_submitted_once'),
        ),
        migrations.AddConstraint(
            model_name='workload',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['failed', 'placed', 'queued', 'running', 'starting', 'stopped', 'stopping', 'succeeded'])), name='workload_status_known'),
        ),
        migrations.AddConstraint(
            model_name='workload',
            constraint=models.CheckConstraint(condition=models.Q(('priority__range', (1, 5))), name='workload_priority_1_to_5'),
        ),
        migrations.AddConstraint(
            model_name='workload',
            constraint=models.CheckConstraint(condition=models.Q(('ended_at__isnull', True), ('status__in', ['failed', 'stopped', 'succeeded']), _connector='OR'), name='workload_ended_is_terminal'),
        ),
        migrations.AddConstraint(
            model_name='workload',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('stop_by__isnull', True), ('stop_reason', '')), models.Q(models.Q(('stop_reason', ''), _negated=True), ('stop_by__isnull', False)), _connector='OR'), name='workload_stop_has_a_time'),
        ),
        migrations.AddConstraint(
            model_name='workload',
            constraint=models.CheckConstraint(condition=models.Q(('tag_keys__len', models.F('tags__len')), ('tags__len__lte', 10)), name='workload_tags_few'),
        ),
        migrations.AddIndex(
            model_name='startestimate',
            index=models.Index(condition=models.Q(('started_at__isnull', False)), fields=['-started_at'], name='estimate_scored'),
        ),
        migrations.AddConstraint(
            model_name='startestimate',
            constraint=models.UniqueConstraint(fields=('workload', 'after_attempt'), name='one_estimate_per_stay'),
        ),
        migrations.AddConstraint(
            model_name='startestimate',
            constraint=models.CheckConstraint(condition=models.Q(('start_p90__gte', models.F('start_p50'))), name='estimate_p90_not_before_p50'),
        ),
        migrations.AddIndex(
            model_name='gatewaysession',
            index=models.Index(fields=['expires_at'], name='gateway_session_expiry'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['workload', 'id'], name='event_of_workload'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['organisation', 'id'], name='event_of_organisation'),
        ),
        migrations.AddIndex(
            model_name='entrycode',
            index=models.Index(fields=['expires_at'], name='entry_code_expiry'),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['next_check_at'], name='attempt_due'),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(fields=['placed_at'], name='attempt_placed'),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(condition=models.Q(('given_up_at__isnull', False), ('gone_at__isnull', True)), fields=['node'], name='attempt_given_up'),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(condition=models.Q(('gone_at__isnull', False)), fields=['gone_at'], name='attempt_gone'),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(condition=models.Q(('ended_at__isnull', False), ('fault__in', ['node', 'platform']), ('lost_s__isnull', True)), fields=['ended_at'], name='attempt_uncredited'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(fields=('workload', 'number'), name='attempt_number_once'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True)), fields=('workload',), name='one_live_attempt'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.CheckConstraint(condition=models.Q(('ended_at__isnull', True), ('ended_at__gte', models.F('placed_at')), _connector='OR'), name='attempt_ends_after_placement'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.CheckConstraint(condition=models.Q(('started_at__isnull', True), ('ended_at__isnull', True), ('ended_at__gte', models.F('started_at')), _connector='OR'), name='attempt_ends_after_start'),
        ),
        migrations.AddIndex(
            model_name='activity',
            index=models.Index(fields=['heartbeat_at'], name='activity_heartbeat'),
        ),
        migrations.AddConstraint(
            model_name='activity',
            constraint=models.UniqueConstraint(fields=('workload', 'source', 'process'), name='activity_once_per_process'),
        ),
    ]
