"""Attacks on what else the engine holds or can reach: files, settings, catalogues,
other statements, internal names.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dither.errors import DitherError, QueryError
from tests.attacks.analyst import row, visits

PEOPLE = [
    row(f"p{number}", cost=number % 5, ward="AB"[number % 2]) for number in range(30)
]
TARGET = Path("/tmp/dither-attack-was-here")
STATEMENTS = [
    "COPY visits TO '/tmp/dither-attack-was-here'",
    "COPY (SELECT * FROM visits) TO '/tmp/dither-attack-was-here'",
    "EXPORT DATABASE '/tmp/dither-attack-was-here'",
    "ATTACH '/tmp/dither-attack-was-here' AS x",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "PRAGMA database_list",
    "CALL duckdb_tables()",
    "SHOW TABLES",
    "DESCRIBE visits",
    "SUMMARIZE visits",
    "CREATE TABLE x AS SELECT * FROM visits",
    "INSERT INTO visits SELECT * FROM visits",
    "UPDATE visits SET cost = 100",
    "DELETE FROM visits",
    "DROP TABLE visits",
    "TRUNCATE visits",
    "ALTER TABLE visits RENAME TO x",
    "PREPARE p AS SELECT COUNT(*) FROM visits",
    "EXECUTE p",
    "BEGIN",
    "CHECKPOINT",
    "USE main",
    "VALUES (1)",
    "TABLE visits",
    "EXPLAIN ANALYZE SELECT COUNT(*) FROM visits",
    "EXPLAIN COPY visits TO '/tmp/dither-attack-was-here'",
    "MERGE INTO visits USING visits ON TRUE WHEN MATCHED THEN DELETE",
    "SELECT COUNT(*) FROM visits; DROP TABLE visits",
    "SELECT COUNT(*) FROM visits;; SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) INTO x FROM visits",
    "SELECT COUNT(*) FROM visits FOR UPDATE",
    "WITH d AS (DELETE FROM visits RETURNING *) SELECT COUNT(*) FROM d",
    "WITH x AS (INSERT INTO visits VALUES (1) RETURNING *) SELECT COUNT(*) FROM x",
]
TABLES = [
    "read_csv('/etc/passwd')",
    "read_csv_auto('/etc/passwd')",
    "read_text('/etc/passwd')",
    "read_blob('/etc/passwd')",
    "read_parquet('*.parquet')",
    "read_json('x.json')",
    "glob('/*')",
    "'/etc/passwd'",
    "'x.csv'",
    '"/etc/passwd"',
    "duckdb_tables()",
    "duckdb_settings()",
    "duckdb_secrets()",
    "duckdb_logs()",
    "pragma_table_info('visits')",
    "pragma_storage_info('visits')",
    "information_schema.tables",
    "information_schema.columns",
    "pg_catalog.pg_tables",
    "sqlite_master",
    "main.visits",
    "memory.main.visits",
    "system.main.duckdb_tables",
    "temp.visits",
    "dither_1",
    '"frame of visits"',
    "generate_series(1, 10)",
    "range(10)",
    "unnest([1, 2])",
    "(VALUES (1), (2)) v(x)",
    "query('SELECT * FROM visits')",
    "query_table('visits')",
    "visits AT (VERSION => 1)",
    "json_each('[1]')",
    "sniff_csv('/etc/passwd')",
    "parquet_metadata('x')",
    "which_secret('x', 's3')",
    "test_all_types()",
]
VALUES = [
    "current_setting('temp_directory')",
    "getenv('HOME')",
    "getvariable('x')",
    "current_user",
    "session_user",
    "current_schema()",
    "current_database()",
    "current_catalog",
    "current_query()",
    "version()",
    "pg_typeof(cost)",
    "typeof(cost)",
    "stats(cost)",
    "rowid",
    "visits.rowid",
    "ctid",
    "u",
    "c0",
    "main.visits.cost",
    "nextval('x')",
    "random()",
    "uuid()",
    "gen_random_uuid()",
    "now()",
    "today()",
    "current_date",
    "current_timestamp",
    "localtimestamp",
    "error('x')",
    "hash(cost)",
    "md5(note)",
    "sha256(note)",
    "read_text('/etc/passwd')",
    "txid_current()",
    "system('id')",
    "pg_sleep(10)",
    "sleep_ms(1)",
    "printf('%n', 1)",
    "regexp_matches(note, '(a+)+$')",
    "list_transform([1], x -> x)",
    "struct_pack(a := 1)",
    "json_extract(note, '$')",
    "getbit('1', 1)",
    "row(1)",
    "[1, 2, 3]",
    "{'a': 1}",
    "MAP {1: 2}",
    "X'00'",
    "?",
    "$1",
    "$name",
    ":name",
    "@name",
    "cost::DECIMAL(4, 2)",
    "CAST(note AS BLOB)",
    "CAST(cost AS HUGEINT)",
    "CAST(note AS visits)",
    "note COLLATE NOCASE",
    "COLUMNS('c.*')",
    "try(cost)",
    "unnest([1])",
    "exists(SELECT 1)",
    "(SELECT 1)",
]


@pytest.fixture(scope="module")
def database():
    with visits(PEOPLE) as opened:
        yield opened


def refused(database, sql):
    """Refused as a question, in every way to ask it, and not even the engine's refusal
    is needed.
    """
    before = len(database.account.history())
    for ask in (database.sql, database.preview, database.explain_plan):
        with pytest.raises(QueryError):
            ask(sql, epsilon=0.1)
    assert len(database.account.history()) == before
    assert database.failure is None
    assert not TARGET.exists()


@pytest.mark.parametrize("sql", STATEMENTS)
def test_another_statement_was_run(database, sql):
    refused(database, sql)


@pytest.mark.parametrize("table", TABLES)
def test_another_table_was_read(database, table):
    refused(database, f"SELECT COUNT(*) FROM {table}")
    refused(database, f"SELECT COUNT(*) FROM visits JOIN {table} ON TRUE")
    refused(
        database,
        f"SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM {table})",
    )


@pytest.mark.parametrize("value", VALUES)
def test_another_value_was_computed(database, value):
    refused(database, f"SELECT COUNT({value}) FROM visits")
    refused(database, f"SELECT COUNT(*) FROM visits WHERE ({value}) IS NOT NULL")
    refused(database, f"SELECT ({value}), COUNT(*) FROM visits GROUP BY 1")


@pytest.mark.parametrize(
    "sql",
    [
        "",
        " ",
        ";",
        "--",
        "/* */",
        "\ufeffSELECT COUNT(*) FROM visits",
        "\0",
        "SELECT '\ud800'",
    ],
)
def test_a_question_of_nothing(database, sql):
    with pytest.raises(DitherError):
        database.sql(sql, epsilon=0.1)
