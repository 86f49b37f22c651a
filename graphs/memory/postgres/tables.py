"""The tables of a database: LangGraph's own and two of ours, made by one process at a time."""

import time

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.store.postgres import PostgresStore

from graphs.database_url import Address, DatabaseError
from graphs.memory.postgres.connections import Rows, refusal

LAYOUT = 1
"""Layout of our tables; a higher one was written by a newer version."""

SETUP_SECONDS = 120.0
"""How long another process may take to set the same database up."""

_TABLES = {
    "checkpoints": {"thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint", "metadata"},
    "checkpoint_blobs": {"thread_id", "checkpoint_ns", "channel", "version", "type", "blob"},
    "checkpoint_writes": {"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "blob"},
    "checkpoint_migrations": {"v"},
    "store": {"prefix", "key", "value"},
    "store_migrations": {"v"},
    "rungs_cache": {"ns", "key", "expiry", "encoding", "val"},
    "rungs_layout": {"v"},
}

_CACHE = (
    "CREATE TABLE IF NOT EXISTS rungs_cache (ns text NOT NULL, key text NOT NULL, "
    "expiry double precision, encoding text NOT NULL, val bytea NOT NULL, PRIMARY KEY (ns, key))"
)
_MARK = "CREATE TABLE IF NOT EXISTS rungs_layout (v integer PRIMARY KEY)"
_RUNS = "ALTER TABLE checkpoint_writes ADD COLUMN IF NOT EXISTS run_id text"
"""The run that wrote: one that is rolled back takes its writes along. LangGraph's saver, which
names its columns, leaves it empty."""

_TURN = "hashtextextended('rungs set-up:' || current_schema(), 0)"


def prepare(connection: Rows, address: Address) -> None:
    """Check that a database may serve as memory, and create or migrate its tables.

    * Nothing is created before the check has passed.
    * A set-up that was killed half-way is gone on with by the next one: each of its statements may
      be made again.
    * One process sets up at a time. The others ask again and again instead of waiting in the
      server: `CREATE INDEX CONCURRENTLY` waits for every statement that is under way.

    Raises:
        DatabaseError: It may not.
    """
    try:
        if _is_ready(connection, address):
            return
        _refuse_foreign(connection, address)
        _take_turn(connection, address)
        try:
            if not _is_ready(connection, address):
                _set_up(connection)
        finally:
            connection.execute(f"SELECT pg_advisory_unlock({_TURN})")
    except psycopg.Error as error:
        raise refusal(address, error) from None


def _is_ready(connection: Rows, address: Address) -> bool:
    names = ("checkpoint_migrations", "store_migrations", "rungs_layout")
    found = connection.execute(
        "SELECT count(to_regclass(name)) AS tables FROM unnest(%s::text[]) AS name", (list(names),)
    ).fetchone()
    if found is None or found["tables"] < len(names):
        return False
    noted = connection.execute(
        "SELECT count(*) AS columns FROM pg_attribute WHERE attname = 'run_id' "
        "AND attrelid = to_regclass('checkpoint_writes') AND NOT attisdropped"
    ).fetchone()
    layouts = connection.execute(
        "SELECT (SELECT max(v) FROM checkpoint_migrations) AS saver, "
        "(SELECT max(v) FROM store_migrations) AS store, (SELECT max(v) FROM rungs_layout) AS ours"
    ).fetchone()
    told = layouts or {}
    if (told["ours"] or 0) > LAYOUT:
        raise DatabaseError(
            f"{address.shown} was written by a newer version of rungs: update rungs "
            "or name another database"
        )
    wanted = {
        "saver": len(PostgresSaver.MIGRATIONS) - 1,
        "store": len(PostgresStore.MIGRATIONS) - 1,
        "ours": LAYOUT,
    }
    return bool(noted and noted["columns"]) and all(
        (told[name] or 0) >= layout for name, layout in wanted.items()
    )


def _refuse_foreign(connection: Rows, address: Address) -> None:
    """Refuse a database that can't hold every text, or has other tables of our names."""
    encoding = connection.execute("SHOW server_encoding").fetchone()
    if encoding is None or encoding["server_encoding"] != "UTF8":
        raise DatabaseError(
            f"{address.shown} can't hold every text: create it with the encoding UTF8 "
            "(createdb -E UTF8 -T template0)"
        )
    for table, columns in _TABLES.items():
        found = connection.execute(
            "SELECT attname FROM pg_attribute "
            "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
            (table,),
        ).fetchall()
        if found and not columns <= {row["attname"] for row in found}:
            raise DatabaseError(
                f"{address.shown} has another application's table {table}: name another database, "
                "or a schema of its own with ?options=-csearch_path%3DSCHEMA"
            )


def _take_turn(connection: Rows, address: Address) -> None:
    deadline = time.monotonic() + SETUP_SECONDS
    while True:
        turn = connection.execute(f"SELECT pg_try_advisory_lock({_TURN}) AS ours").fetchone()
        if turn and turn["ours"]:
            return
        if time.monotonic() > deadline:
            raise DatabaseError(
                f"{address.shown}: another process has been setting it up for "
                f"{SETUP_SECONDS:.0f} s: end it, or try again later"
            )
        time.sleep(0.05)


def _set_up(connection: Rows) -> None:
    PostgresSaver(connection).setup()
    PostgresStore(connection).setup()
    connection.execute(_CACHE)
    connection.execute(_RUNS)
    connection.execute(_MARK)
    connection.execute("INSERT INTO rungs_layout (v) VALUES (%s) ON CONFLICT DO NOTHING", (LAYOUT,))
