"""A pytest plugin that puts a Postgres database in the place of every memory file.

    RUNGS_TEST_SERVER=postgresql://... pytest -p tests.on_postgres tests/test_notes.py

A file becomes a schema of its own in one database, so that what tests say of memory files is asked
of Postgres word for word.
"""

import hashlib
import os
from pathlib import Path
from urllib.parse import quote

import psycopg

from graphs.memory import handle
from graphs.memory.postgres.handle import PostgresMemory

SERVER = os.environ["RUNGS_TEST_SERVER"]


_COPY = """
DO $$
DECLARE name text;
BEGIN
    IF to_regnamespace('{schema}') IS NULL THEN
        CREATE SCHEMA {schema};
        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
            EXECUTE format('CREATE TABLE {schema}.%I (LIKE public.%I INCLUDING ALL)', name, name);
        END LOOP;
        INSERT INTO {schema}.checkpoint_migrations SELECT * FROM public.checkpoint_migrations;
        INSERT INTO {schema}.store_migrations SELECT * FROM public.store_migrations;
        INSERT INTO {schema}.rungs_layout SELECT * FROM public.rungs_layout;
    END IF;
END $$
"""

PostgresMemory(SERVER).close()  # sets up what is copied


class InItsPlace(PostgresMemory):
    """The schema that stands for a file; an empty file tells that it is there."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser().resolve()
        schema = "m" + hashlib.sha256(str(self.path).encode()).hexdigest()[:24]
        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(1)")
            connection.execute(_COPY.format(schema=schema))
        self.path.touch()
        super().__init__(f"{SERVER}?options={quote(f'-csearch_path={schema}')}")


handle.FileMemory = InItsPlace  # type: ignore[assignment, misc]
