"""What made work quicker is given back when there is none."""

import subprocess
import sys

import pytest

_PROGRAM = """
import sys
from pathlib import Path
from afterword.index.room import give_back
from afterword.store.ledger.ledger import open_writer

def held_mb():
    give_back()
    return int(next(line for line in Path("/proc/self/smaps_rollup").read_text().splitlines()
                    if line.startswith("Rss:")).split()[1]) / 1000

ledger = open_writer(Path(sys.argv[1]), "machine")
with ledger.transaction():
    ledger.db.execute("CREATE TABLE much (data)")
    ledger.db.executemany("INSERT INTO much VALUES (randomblob(3000))", [()] * 8000)
before = held_mb()
ledger.let_go()
print(before - held_mb())
ledger.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process holds")
def test_a_ledger_lets_go_of_its_cache(tmp_path: object) -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, str(tmp_path)], capture_output=True, text=True, check=True)
    assert float(done.stdout) > 12
