import django.contrib.auth.validators
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
        ('tenants', '0002_people'),
        ('tenants', '0003_holdings'),
        ('tenants', '0004_list_indexes'),
        ('tenants', '0005_guarantees'),
        ('tenants', '0006_sign_ins'),
    ]

    dependencies = []

    operations = [
        migrations.CreateModel(
            name='Organisation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80, verbose_name='name')),
                ('slug', models.SlugField(max_length=40, unique=True, verbose_name='short name')),
                ('status', models.CharField(choices=[('active', 'Active'), ('frozen', 'Frozen')], default='active', max_length=16)),
                ('weight', models.PositiveSmallIntegerField(default=1, verbose_name='weight')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('name'), name='organisation_name_once'), models.CheckConstraint(condition=models.Q(('weight__range', (1, 100))), name='organisation_weight_1_to_100')],
            },
        ),
        migrations.CreateModel(
            name='Department',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='departments', to='tenants.organisation')),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='tenants.department')),
                ('name', models.CharField(max_length=80, verbose_name='name')),
                ('weight', models.PositiveSmallIntegerField(default=1, verbose_name='weight')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('organisation', 'parent', 'name'), name='department_name_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('parent', models.F('id')), _negated=True), name='department_not_own_parent'), models.CheckConstraint(condition=models.Q(('weight__range', (1, 100))), name='department_weight_1_to_100')],
            },
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('username', models.CharField(max_length=60, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='user name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='e-mail')),
                ('name', models.CharField(blank=True, max_length=80, verbose_name='name')),
                ('language', models.CharField(blank=True, max_length=10, verbose_name='language')),
                ('phone', models.CharField(blank=True, max_length=20, verbose_name='phone')),
                ('is_active', models.BooleanField(default=True)),
                ('date_joined', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('current_organisation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='tenants.organisation')),
            ],
            options={
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('username'), name='user_username_once'), models.UniqueConstraint(django.db.models.functions.text.Lower('email'), condition=models.Q(('email', ''), _negated=True), name='user_email_once')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                ('organisation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('name', models.CharField(max_length=60, verbose_name='name')),
                ('prefix', models.CharField(max_length=12)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('permissions', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField(null=True)),
                ('last_used_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='SshKey',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ssh_keys', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(max_length=60, verbose_name='name')),
                ('public_key', models.TextField(verbose_name='public key')),
                ('fingerprint', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('last_used_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-created_at'],
                'constraints': [models.UniqueConstraint(fields=('user', 'fingerprint'), name='ssh_key_once')],
            },
        ),
        migrations.CreateModel(
            name='Guarantee',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guarantees', to='tenants.organisation')),
                ('simulated', models.BooleanField(default=False)),
                ('gpu_model', models.CharField(blank=True, default='', max_length=60)),
                ('gpu_milli', models.PositiveIntegerField()),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['organisation', 'gpu_model'],
                'constraints': [models.UniqueConstraint(fields=('organisation', 'simulated', 'gpu_model'), name='guarantee_once'), models.CheckConstraint(condition=models.Q(('gpu_milli__gt', 0)), name='guarantee_positive')],
            },
        ),
        migrations.CreateModel(
            name='OrganisationRole',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='own_roles', to='tenants.organisation')),
                ('name', models.CharField(max_length=60, verbose_name='name')),
                ('permissions', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('organisation', 'name'), name='organisation_role_name_once')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to='tenants.organisation')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('department', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='tenants.department')),
                ('role', models.CharField(choices=[('member', 'Member'), ('finance', 'Finance'), ('admin', 'Organisation admin')], default='member', max_length=16)),
                ('own_role', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to='tenants.organisationrole')),
                ('priority', models.PositiveSmallIntegerField(default=3)),
                ('weight', models.PositiveSmallIntegerField(default=1)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'indexes': [models.Index(fields=['organisation', '-created_at'], name='membership_newest')],
                'constraints': [models.UniqueConstraint(fields=('organisation', 'user'), name='membership_once'), models.CheckConstraint(condition=models.Q(('priority__range', (1, 5))), name='membership_priority_1_to_5'), models.CheckConstraint(condition=models.Q(('weight__range', (1, 100))), name='membership_weight_1_to_100')],
            },
        ),
        migrations.CreateModel(
            name='DefinedPlatformRole',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60, unique=True, verbose_name='name')),
                ('permissions', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='PlatformAssignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='platform_assignments', to=settings.AUTH_USER_MODEL)),
                ('role', models.CharField(blank=True, choices=[('finance', 'Finance staff'), ('business', 'Business admin'), ('ops', 'Operations admin'), ('super', 'Super admin')], max_length=16)),
                ('defined', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='tenants.definedplatformrole')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'role', 'defined'), name='platform_role_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(models.Q(('defined__isnull', False), ('role', '')), models.Q(models.Q(('role', ''), _negated=True), ('defined__isnull', True)), _connector='OR'), name='platform_role_base_or_defined')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='invitations', to='tenants.organisation')),
                ('department', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='tenants.department')),
                ('role', models.CharField(choices=[('member', 'Member'), ('finance', 'Finance'), ('admin', 'Organisation admin')], default='member', max_length=16)),
                ('own_role', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='tenants.organisationrole')),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('max_uses', models.PositiveIntegerField(default=1)),
                ('uses', models.PositiveIntegerField(default=0)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-created_at'],
                'indexes': [models.Index(fields=['organisation', '-expires_at'], name='invitation_latest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('uses__lte', models.F('max_uses'))), name='invitation_uses_within')],
            },
        ),
        migrations.CreateModel(
            name='Quota',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='quotas', to='tenants.organisation')),
                ('department', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='quotas', to='tenants.department')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='quotas', to=settings.AUTH_USER_MODEL)),
                ('resource', models.CharField(choices=[('cpu_milli', 'CPU'), ('memory_mib', 'Memory'), ('gpu_milli', 'GPU cards'), ('runs', 'Runs at a time'), ('environments', 'Environments running at a time'), ('storage_mib', 'Storage'), ('volumes', 'Volumes')], max_length=24)),
                ('model', models.CharField(blank=True, default='', max_length=60)),
                ('limit', models.BigIntegerField(null=True)),
                ('used', models.BigIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('organisation', 'department', 'user', 'resource', 'model'), name='quota_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('limit__gte', 0)), name='quota_limit_not_negative'), models.CheckConstraint(condition=models.Q(('used__gte', 0)), name='quota_used_not_negative'), models.CheckConstraint(condition=models.Q(('department__isnull', True), ('user__isnull', True), _connector='OR'), name='quota_one_level')],
            },
        ),
        migrations.CreateModel(
            name='Holding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('department', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='holdings', to='tenants.department')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('holder_kind', models.CharField(choices=[('workload', 'Workload'), ('volume', 'Volume'), ('dataset', 'Dataset'), ('home', 'Home folder'), ('image', 'Image')], max_length=16)),
                ('holder_id', models.UUIDField()),
                ('resource', models.CharField(choices=[('cpu_milli', 'CPU'), ('memory_mib', 'Memory'), ('gpu_milli', 'GPU cards'), ('runs', 'Runs at a time'), ('environments', 'Environments running at a time'), ('storage_mib', 'Storage'), ('volumes', 'Volumes')], max_length=24)),
                ('model', models.CharField(blank=True, default='', max_length=60)),
                ('amount', models.BigIntegerField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'indexes': [models.Index(fields=['organisation', 'resource', 'model', '-amount'], name='holding_largest'), models.Index(fields=['organisation', 'user'], name='holding_of_person')],
                'constraints': [models.UniqueConstraint(fields=('holder_kind', 'holder_id', 'resource', 'model'), name='holding_once'), models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='holding_positive')],
            },
        ),
        migrations.CreateModel(
            name='PlatformSetting',
            fields=[
                ('key', models.SlugField(max_length=40, primary_key=True, serialize=False)),
                ('value', models.JSONField(default=dict)),
                ('sealed', models.BinaryField(null=True)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='KnownDevice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('digest', models.CharField(max_length=64)),
                ('place', models.CharField(blank=True, max_length=50)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'indexes': [models.Index(fields=['digest'], name='known_device_digest'), models.Index(fields=['seen_at'], name='known_device_age')],
                'constraints': [models.UniqueConstraint(fields=('user', 'digest'), name='known_device_once')],
            },
        ),
        migrations.CreateModel(
            name='SignInFailures',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.CharField(max_length=80)),
                ('source', models.CharField(max_length=80)),
                ('failures', models.PositiveIntegerField()),
                ('last_at', models.DateTimeField()),
                ('open_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['source', 'last_at'], name='sign_in_failures_by_source'), models.Index(fields=['last_at'], name='sign_in_failures_age')],
                'constraints': [models.UniqueConstraint(fields=('account', 'source'), name='sign_in_failures_once')],
            },
        ),
    ]
