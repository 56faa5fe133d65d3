import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    # Earlier installations have these instead: see apps/common/management/commands/migrate.py.
    replaces = [
        ('storage', '0002_volumes_and_datasets'),
        ('storage', '0003_job_progress_at_job_started_at_job_tries'),
    ]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('tenants', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='StoredObject',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('sha256', models.BinaryField(max_length=32)),
                ('size', models.BigIntegerField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('organisation', 'sha256'), name='stored_object_once')],
            },
        ),
        migrations.CreateModel(
            name='Manifest',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('complete', models.BooleanField(default=False)),
                ('file_count', models.PositiveIntegerField(default=0)),
                ('total_bytes', models.BigIntegerField(default=0)),
                ('skipped', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('touched_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('complete', False)), fields=['touched_at'], name='manifest_open')],
            },
        ),
        migrations.CreateModel(
            name='ManifestEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('manifest', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='storage.manifest')),
                ('path', models.TextField()),
                ('kind', models.CharField(choices=[('f', 'File'), ('d', 'Folder'), ('l', 'Link')], max_length=1)),
                ('mode', models.PositiveSmallIntegerField(default=420)),
                ('size', models.BigIntegerField(default=0)),
                ('sha256', models.BinaryField(max_length=32, null=True)),
                ('target', models.TextField(blank=True)),
                ('stamp', models.CharField(blank=True, max_length=80)),
            ],
            options={
                'indexes': [models.Index(fields=['organisation', 'sha256'], name='manifest_refers')],
                'constraints': [models.UniqueConstraint(fields=('manifest', 'path'), name='manifest_path_once'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'f'), ('sha256__isnull', False)), models.Q(models.Q(('kind', 'f'), _negated=True), ('sha256__isnull', True)), _connector='OR'), name='manifest_files_have_content')],
            },
        ),
        migrations.CreateModel(
            name='Folder',
            fields=[
                ('size_mib', models.PositiveIntegerField(null=True)),
                ('used_bytes', models.BigIntegerField(default=0)),
                ('file_count', models.PositiveIntegerField(default=0)),
                ('measured_at', models.DateTimeField(null=True)),
                ('measuring_ms', models.PositiveIntegerField(default=0)),
                ('touched_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('over_since', models.DateTimeField(null=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(choices=[('code', 'Code'), ('output', 'Output'), ('home', 'Home'), ('draft', 'Draft')], max_length=8)),
                ('sealed', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('used_bytes__gte', 0)), name='folder_used_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Dataset',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('department_id', models.UUIDField(null=True)),
                ('name', models.CharField(max_length=60)),
                ('note', models.CharField(blank=True, max_length=200)),
                ('draft', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='storage.folder')),
                ('newest', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('deleted_at', models.DateTimeField(null=True)),
                ('purge_at', models.DateTimeField(null=True)),
            ],
            options={
                'permissions': [('read_dataset', 'May read the dataset'), ('write_dataset', 'May add versions')],
                'default_permissions': (),
                'indexes': [models.Index(fields=['organisation', '-created_at'], name='dataset_newest')],
                'constraints': [models.UniqueConstraint(models.F('owner'), django.db.models.functions.text.Lower('name'), models.F('organisation'), condition=models.Q(('deleted_at__isnull', True)), name='dataset_name_once')],
            },
        ),
        migrations.CreateModel(
            name='DatasetShare',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='storage.dataset')),
            ],
            options={
                'unique_together': {('user', 'permission', 'content_object')},
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='DatasetVersion',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='storage.dataset')),
                ('number', models.PositiveIntegerField()),
                ('note', models.CharField(blank=True, max_length=200)),
                ('manifest', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='storage.manifest')),
                ('file_count', models.PositiveIntegerField()),
                ('total_bytes', models.BigIntegerField()),
                ('shared_bytes', models.BigIntegerField(default=0)),
                ('reserved_mib', models.PositiveIntegerField(default=0)),
                ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['-number'],
                'constraints': [models.UniqueConstraint(fields=('dataset', 'number'), name='dataset_version_once')],
            },
        ),
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('root_kind', models.CharField(choices=[('volume', 'Volume'), ('folder', 'Folder'), ('version', 'Dataset version')], max_length=8)),
                ('root_id', models.UUIDField()),
                ('path', models.TextField()),
                ('size', models.BigIntegerField()),
                ('clash', models.CharField(choices=[('keep_both', 'Keep both'), ('replace', 'Replace'), ('skip', 'Skip')], default='keep_both', max_length=10)),
                ('fingerprint', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('touched_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'indexes': [models.Index(fields=['root_kind', 'root_id'], name='upload_of_root'), models.Index(fields=['touched_at'], name='upload_oldest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('size__gte', 0)), name='upload_size_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(choices=[('copy', 'Copy'), ('move', 'Move'), ('unpack', 'Unpack'), ('version', 'Dataset version')], max_length=8)),
                ('status', models.CharField(choices=[('queued', 'Waiting'), ('running', 'Running'), ('succeeded', 'Done'), ('failed', 'Failed'), ('stopped', 'Cancelled')], default='queued', max_length=10)),
                ('title', models.CharField(max_length=200)),
                ('root_kind', models.CharField(blank=True, choices=[('volume', 'Volume'), ('folder', 'Folder'), ('version', 'Dataset version')], max_length=8)),
                ('subject_id', models.UUIDField()),
                ('parameters', models.JSONField(default=dict)),
                ('done_bytes', models.BigIntegerField(default=0)),
                ('total_bytes', models.BigIntegerField(default=0)),
                ('done_files', models.PositiveIntegerField(default=0)),
                ('error', models.TextField(blank=True)),
                ('fence', models.PositiveIntegerField(default=0)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(null=True)),
                ('beat_at', models.DateTimeField(null=True)),
                ('progress_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status__in', ['queued', 'running'])), fields=['created_at'], name='job_open'), models.Index(fields=['subject_id', '-created_at'], name='job_of_subject')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['failed', 'queued', 'running', 'stopped', 'succeeded'])), name='job_status_known')],
            },
        ),
        migrations.CreateModel(
            name='Volume',
            fields=[
                ('size_mib', models.PositiveIntegerField(null=True)),
                ('used_bytes', models.BigIntegerField(default=0)),
                ('file_count', models.PositiveIntegerField(default=0)),
                ('measured_at', models.DateTimeField(null=True)),
                ('measuring_ms', models.PositiveIntegerField(default=0)),
                ('touched_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('over_since', models.DateTimeField(null=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('department_id', models.UUIDField(null=True)),
                ('code', models.CharField(max_length=16, unique=True)),
                ('name', models.CharField(max_length=60)),
                ('note', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('deleted_at', models.DateTimeField(null=True)),
                ('purge_at', models.DateTimeField(null=True)),
            ],
            options={
                'permissions': [('read_volume', 'May read the volume'), ('write_volume', 'May write to the volume')],
                'default_permissions': (),
                'indexes': [models.Index(fields=['organisation', '-created_at'], name='volume_newest')],
                'constraints': [models.UniqueConstraint(models.F('owner'), django.db.models.functions.text.Lower('name'), models.F('organisation'), condition=models.Q(('deleted_at__isnull', True)), name='volume_name_once'), models.CheckConstraint(condition=models.Q(('size_mib__gte', 1)), name='volume_has_a_size'), models.CheckConstraint(condition=models.Q(('used_bytes__gte', 0)), name='volume_used_not_negative'), models.CheckConstraint(condition=models.Q(models.Q(('deleted_at__isnull', True), ('purge_at__isnull', True)), models.Q(('deleted_at__isnull', False), ('purge_at__isnull', False)), _connector='OR'), name='volume_bin_has_an_end')],
            },
        ),
        migrations.CreateModel(
            name='VolumeShare',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='storage.volume')),
            ],
            options={
                'unique_together': {('user', 'permission', 'content_object')},
                'abstract': False,
            },
        ),
    ]
