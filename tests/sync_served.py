"""The far end of an exchange as a process of its own: `python sync_served.py LOG` serves a pickled `MemoryLog`."""

import fcntl
import pickle
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from afterword_sync.channel import standard_streams
from afterword_sync.conversation import serve
from afterword_sync.errors import SyncError

if __name__ == "__main__":
    place = Path(sys.argv[1])
    lock = place.with_suffix(".lock").open("w")  # held until what came is written down
    fcntl.flock(lock, fcntl.LOCK_EX)
    log = pickle.loads(place.read_bytes())
    try:
        serve(standard_streams(), log, program="test")
    except SyncError as err:
        sys.exit(f"{type(err).__name__}: {err.reason}")
    finally:
        place.write_bytes(pickle.dumps(log))
