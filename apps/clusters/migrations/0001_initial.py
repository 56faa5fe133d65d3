import datetime
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    # Earlier installations have these instead: see apps/common/management/commands/migrate.py.
    replaces = [
        ('clusters', '0002_zones_and_joins'),
        ('clusters', '0003_silence'),
        ('clusters', '0004_modes'),
        ('clusters', '0005_lost_nodes'),
        ('clusters', '0006_disks'),
    ]

    dependencies = [
        ('billing', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Zone',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60)),
                ('simulated', models.BooleanField(default=False)),
                ('billed', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('removed_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['name'],
                'base_manager_name': 'everything',
                'default_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(condition=models.Q(('removed_at__isnull', True)), fields=('name',), name='zone_name_once')],
            },
            managers=[
                ('everything', django.db.models.manager.Manager()),
                ('objects', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='ZonePackage',
            fields=[
                ('package', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='zone_offer', serialize=False, to='billing.package')),
                ('zone', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='offers', to='clusters.zone')),
                ('listed_fen_per_hour', models.DecimalField(decimal_places=10, max_digits=20)),
            ],
        ),
        migrations.CreateModel(
            name='LogicalCluster',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('zone', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='clusters', to='clusters.zone')),
                ('name', models.CharField(max_length=60)),
                ('removed_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['zone', 'name'],
                'base_manager_name': 'everything',
                'default_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(condition=models.Q(('removed_at__isnull', True)), fields=('zone', 'name'), name='cluster_name_once')],
            },
            managers=[
                ('everything', django.db.models.manager.Manager()),
                ('objects', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Node',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='nodes', to='clusters.logicalcluster')),
                ('name', models.CharField(max_length=80)),
                ('driver', models.CharField(max_length=20)),
                ('arch', models.CharField(max_length=20)),
                ('status', models.CharField(choices=[('ready', 'Ready'), ('cordoned', 'Cordoned'), ('draining', 'Draining'), ('stale', 'Not heard from'), ('lost', 'Lost')], default='ready', max_length=16)),
                ('isolation', models.CharField(default='L0', max_length=4)),
                ('isolation_reason', models.CharField(blank=True, max_length=400)),
                ('cpu_milli', models.PositiveIntegerField()),
                ('memory_mib', models.PositiveIntegerField()),
                ('reserved_cpu_milli', models.PositiveIntegerField(default=0)),
                ('reserved_memory_mib', models.PositiveIntegerField(default=0)),
                ('disk_mib', models.PositiveBigIntegerField(default=0)),
                ('disk_free_mib', models.PositiveBigIntegerField(default=0)),
                ('disk_files', models.PositiveBigIntegerField(default=0)),
                ('disk_files_free', models.PositiveBigIntegerField(default=0)),
                ('facts', models.JSONField(default=dict)),
                ('labels', models.JSONField(default=dict)),
                ('last_seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('removed_at', models.DateTimeField(null=True)),
                ('silent_since', models.DateTimeField(null=True)),
                ('disk_low_since', models.DateTimeField(null=True)),
                ('silent_for', models.DurationField(db_default=datetime.timedelta(0), default=datetime.timedelta(0))),
                ('listened_at', models.DateTimeField(null=True)),
                ('lost_at', models.DateTimeField(null=True)),
                ('lost_by', models.CharField(blank=True, max_length=200)),
                ('switched_off', models.BooleanField(db_default=False, default=False)),
                ('drain_until', models.DateTimeField(null=True)),
                ('drain_action', models.CharField(blank=True, choices=[('requeue', 'Queue it again'), ('stop', 'Stop it')], max_length=8)),
                ('machine_id', models.CharField(blank=True, max_length=40)),
                ('address', models.CharField(blank=True, max_length=200)),
                ('certificate', models.CharField(blank=True, max_length=64)),
                ('sealed_secret', models.BinaryField(null=True)),
                ('joins', models.PositiveIntegerField(default=0)),
            ],
            options={
                'ordering': ['name'],
                'base_manager_name': 'everything',
                'default_manager_name': 'objects',
                'constraints': [models.UniqueConstraint(condition=models.Q(('removed_at__isnull', True)), fields=('name',), name='node_name_once'), models.CheckConstraint(condition=models.Q(models.Q(('drain_until__isnull', False), ('status', 'draining')), models.Q(models.Q(('status', 'draining'), _negated=True), ('drain_until__isnull', True)), _connector='OR'), name='draining_has_a_deadline')],
            },
            managers=[
                ('everything', django.db.models.manager.Manager()),
                ('objects', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Accelerator',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='accelerators', to='clusters.node')),
                ('uuid', models.CharField(max_length=80, unique=True)),
                ('index', models.PositiveSmallIntegerField()),
                ('vendor', models.CharField(max_length=20)),
                ('model', models.CharField(max_length=60)),
                ('memory_mib', models.PositiveIntegerField()),
                ('mode', models.CharField(choices=[('whole', 'Whole card'), ('shared', 'Shared, not isolated'), ('vgpu', 'vGPU, memory limited'), ('mig', 'MIG, hardware isolated')], default='whole', max_length=8)),
                ('healthy', models.BooleanField(default=True)),
                ('mig_profiles', models.JSONField(null=True)),
                ('limiter', models.CharField(blank=True, choices=[('', 'Nothing'), ('hami', 'HAMi-core'), ('mps', 'MPS'), ('vendor', "The vendor's templates"), ('simulated', 'Nothing: simulated')], default='', max_length=10)),
                ('share_milli', models.PositiveIntegerField(default=1000)),
                ('partition', models.CharField(blank=True, max_length=8)),
                ('last_seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('utilisation_pct', models.FloatField(null=True)),
                ('memory_used_mib', models.PositiveIntegerField(null=True)),
                ('temperature_c', models.SmallIntegerField(null=True)),
                ('power_w', models.FloatField(null=True)),
            ],
            options={
                'ordering': ['node', 'index'],
                'base_manager_name': 'everything',
                'default_manager_name': 'objects',
            },
            managers=[
                ('everything', django.db.models.manager.Manager()),
                ('objects', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='NodeSample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='clusters.node')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('cpu_pct', models.FloatField()),
                ('memory_used_mib', models.PositiveIntegerField()),
                ('disk_used_pct', models.FloatField()),
                ('gpu_pct', models.FloatField(null=True)),
                ('gpu_memory_pct', models.FloatField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['node', '-at'], name='sample_newest')],
            },
        ),
        migrations.CreateModel(
            name='JoinToken',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to='clusters.logicalcluster')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('uses_left', models.PositiveSmallIntegerField(default=1)),
                ('expires_at', models.DateTimeField()),
                ('made_by', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Stray',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='strays', to='clusters.node')),
                ('ref', models.UUIDField()),
                ('first_seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('last_seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('confirmed_by', models.CharField(blank=True, max_length=200)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('node', 'ref'), name='stray_once')],
            },
        ),
    ]
