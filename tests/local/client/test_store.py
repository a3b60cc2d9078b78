"""The device's file is durable, private, and its own."""

from __future__ import annotations

import sqlite3
import sys

import pytest

from dither import local
from dither.errors import DeviceError
from dither.local.client.store import SECRET, Store


@pytest.mark.usefixtures("synced")
def test_what_is_written_stays(client):
    file = client._store._connect()
    assert file.execute("PRAGMA synchronous").fetchone()[0] == 3
    assert file.execute("PRAGMA secure_delete").fetchone()[0] == 1
    assert file.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
    file.close()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
@pytest.mark.usefixtures("client")
def test_only_its_owner_can_read_it(path, key):
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    local.Client(path, budget=20, trust=key.public)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("place", ["", "  ", ":memory:", b"device.db", "a\0b", 7])
def test_a_place_that_does_not_last_is_refused(key, place):
    with pytest.raises(DeviceError, match="a file that is kept"):
        local.Client(place, budget=20, trust=key.public)


def test_a_network_file_system_is_refused(path, key, monkeypatch):
    """Two machines could send two messages for one period."""
    monkeypatch.setattr("dither.ledger.locks._kind", lambda _: "nfs4")
    with pytest.raises(DeviceError, match="network file system"):
        local.Client(path, budget=20, trust=key.public)
    assert not path.exists()


def test_a_folder_and_a_missing_folder_are_refused(tmp_path, key):
    for place in (tmp_path, tmp_path / "missing" / "device.db"):
        with pytest.raises(DeviceError, match="cannot be opened"):
            local.Client(place, budget=20, trust=key.public)


def test_files_of_others_are_left_alone(path, key):
    path.write_text("a diary, long enough not to be an empty file " * 30)
    before = path.read_bytes(), path.stat().st_mode
    with pytest.raises(DeviceError, match="not the file of a device"):
        local.Client(path, budget=20, trust=key.public)
    assert (path.read_bytes(), path.stat().st_mode) == before


def test_databases_of_others_are_left_alone(path, key):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE diary (day TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(DeviceError, match="not the file of a device"):
        local.Client(path, budget=20, trust=key.public)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE device SET secret = x'00'", f"does not have {SECRET} bytes"),
        ("UPDATE device SET secret = 'text'", f"does not have {SECRET} bytes"),
        ("DELETE FROM device", "damaged"),
        ("PRAGMA user_version = 9", "another version"),
        ("PRAGMA application_id = 9", "not the file of a device"),
    ],
)
def test_a_changed_file_is_refused(client, path, key, change, words):
    file = client._store._connect()
    file.execute(change)
    file.close()
    with pytest.raises(DeviceError, match=words):
        local.Client(path, budget=20, trust=key.public)
    with pytest.raises(DeviceError, match=words):
        client.sent()


def test_a_cut_file_is_refused(client, path):
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(DeviceError, match="damaged"):
        client.sent()


def test_secrets_differ_and_are_not_shown(tmp_path, key):
    secrets = set()
    for number in range(3):
        client = local.Client(tmp_path / f"{number}.db", budget=1, trust=key.public)
        with client._store.change() as rows:
            secrets.add(rows.device.secret)
            assert repr(rows.device.secret) not in repr(rows.device)
    assert len(secrets) == 3
    assert all(len(secret) == SECRET for secret in secrets)


def test_another_folder_is_not_another_device(tmp_path, key, monkeypatch):
    monkeypatch.chdir(tmp_path)
    client = local.Client("device.db", budget=1, trust=key.public)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert client.left == 1
    assert Store.at("device.db").path != client._store.path
