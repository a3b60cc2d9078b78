"""Locks that wait their turn, and file systems whose locks cannot be trusted."""

from pathlib import Path

import pytest

from dither.errors import LedgerError
from dither.ledger import locks


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("/book.db", False),
        ("/data/book.db", True),
        ("/data/local/book.db", False),
        ("/my data/book.db", True),
    ],
)
def test_network_file_systems_are_refused(tmp_path, monkeypatch, path, refused):
    (tmp_path / "mounts").write_text(MOUNTS)
    monkeypatch.setattr(locks, "MOUNTS", tmp_path / "mounts")
    if refused:
        with pytest.raises(LedgerError, match="network file system"):
            locks.check_filesystem(Path(path))
    else:
        locks.check_filesystem(Path(path))


MOUNTS = """22 1 254:0 / / rw,relatime - ext4 /dev/root rw
40 22 0:40 / /data rw,relatime shared:1 - nfs4 server:/data rw
41 22 0:41 / /data/local rw,relatime - xfs /dev/sdb rw
42 22 0:42 / /my\\040data rw,relatime - fuse.sshfs host:/ rw
"""
