#!/bin/sh
# Runs once, when the database is made: the role that the processes use. Migrations grant it its rights.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$POSTGRES_APP_PASSWORD" -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
CREATE ROLE plstack_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
REVOKE ALL ON DATABASE plstack FROM PUBLIC;
GRANT CONNECT ON DATABASE plstack TO plstack_app;
SQL
