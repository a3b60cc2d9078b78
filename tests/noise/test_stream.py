"""The byte stream: fresh words for every thread, process and key; no copy, no seed."""

import ast
import copy
import inspect
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import dither
from dither import noise
from dither.noise import secret_bytes, stream
from dither.noise.exact import Uniform
from dither.noise.stream import CHUNK, POOL, Stream, current
from tests.noise.support import LEVEL, p_value

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def test_words_are_the_keystream_and_each_is_used_once(monkeypatch):
    """Fills of any size, and single words, walk along one AES-256-CTR keystream without a gap or a repeat."""
    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count)))
    s = Stream()
    sizes = [1, 3, 0, CHUNK // 8, CHUNK // 8 + 1, 3 * CHUNK // 8 - 5, 2]
    parts = [np.empty(size, np.uint64) for size in sizes]
    for part in parts:
        s.fill(part)
    singles = [s.word() for _ in range(POOL + 1)]
    total = 8 * (sum(sizes) + 2 * POOL)
    key = Cipher(algorithms.AES(bytes(range(32))), modes.CTR(bytes(range(16)))).encryptor().update(bytes(total))
    words = np.frombuffer(key, np.uint64)
    np.testing.assert_array_equal(np.concatenate(parts), words[: sum(sizes)])
    pool = words[sum(sizes) :].tolist()
    assert singles == [*reversed(pool[:POOL]), pool[-1]]


def test_bytes_are_uniform():
    values = np.empty(1 << 20, np.uint64)
    current().fill(values)
    assert p_value(np.bincount(values.view(np.uint8), minlength=256), np.full(256, 1 / 256)) > LEVEL
    assert np.unique(values).size == values.size


def test_a_new_key_comes_in_time(monkeypatch):
    assert stream.REKEY == 1 << 30
    monkeypatch.setattr(stream, "REKEY", 4 * CHUNK)
    keys = []
    monkeypatch.setattr(os, "urandom", lambda count: keys.append(count) or os.getrandom(count))
    s = Stream()
    words = np.empty(CHUNK, np.uint64)  # eight chunks of bytes
    before = len(keys)
    s.fill(words)
    assert len(keys) - before == 2  # one more key and nonce within 8 chunks, after the first 4
    for _ in range(10_000):
        s.word()
    assert len(keys) - before == 2 * ((8 * CHUNK + 8 * 10_240 - 1) // (4 * CHUNK))
    assert np.unique(words).size == words.size


def test_threads_have_streams_of_their_own():
    seen, streams = [], []

    def draw():
        streams.append(current())
        seen.append([current().word() for _ in range(600)])

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    draw()
    assert len({id(s) for s in streams}) == 9
    assert len({word for words in seen for word in words}) == 9 * 600
    assert current() is current()


def forked_words():
    """What a child draws: single words from the pool, and an array's."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            assert stream._threads.stream is None
            os.write(writer, b"".join(current().word().to_bytes(8) for _ in range(20)) + secret_bytes(160))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    assert len(data) == 320
    return [data[i : i + 8] for i in range(0, 320, 8)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_forgets_the_stream_and_its_pool():
    current().word()  # a filled pool is there to be inherited
    children = [forked_words() for _ in range(3)]
    mine = [current().word().to_bytes(8) for _ in range(20)] + [secret_bytes(8) for _ in range(20)]
    assert len({word for words in [*children, mine] for word in words}) == 160


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_inside_a_thread():
    seen = []

    def work():
        current().word()
        seen.append(forked_words())
        seen.append([current().word().to_bytes(8) for _ in range(40)])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len({word for words in seen for word in words}) == 80


def test_a_fork_by_foreign_code_is_noticed(monkeypatch):
    """Such a fork runs none of Python's hooks: the process id tells."""
    before = current()
    pid = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: pid + 1)
    assert current() is not before


def test_streams_cannot_be_copied():
    s = current()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="cannot be copied"):
            pickle.dumps(s, protocol)
    for copier in (copy.copy, copy.deepcopy, lambda x: copy.deepcopy([x])):
        with pytest.raises(TypeError, match="cannot be copied"):
            copier(s)
    with pytest.raises(TypeError):
        pickle.dumps(Uniform(1, 64, s))


def test_no_argument_selects_a_source():
    seeds = {"seed", "rng", "random_state", "generator"}
    for module, forbidden in ((dither, seeds), (noise, seeds | {"source", "words", "bits", "stream"})):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) or (inspect.isclass(thing) and not issubclass(thing, Exception)):
                assert not set(inspect.signature(thing).parameters) & forbidden, name


def test_no_environment_and_no_second_source():
    """The room reads no environment, makes no other randomness and knows nothing of tests."""
    for path in Path(stream.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text())
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        imports = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imports |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not names & {"environ", "getenv", "environb", "default_rng", "Replay", "seed"}, path
        assert not imports & {"random", "secrets", "numpy.random", "tests"}, path
        assert path.name == "stream.py" or "urandom" not in names, path


def test_environment_variables_do_not_repeat_a_run():
    command = [sys.executable, "-c", "from dither.noise import token; print(token())"]
    fixed = {"PYTHONHASHSEED": "0", "DITHER_SEED": "1", "DITHER_SOURCE": "zeros", "SEED": "1", "NUMPY_SEED": "1"}
    env = {**os.environ, **fixed, "PYTHONPATH": str(Path(stream.__file__).parents[2])}
    runs = {subprocess.run(command, env=env, check=True, capture_output=True).stdout for _ in range(2)}
    assert len(runs) == 2
