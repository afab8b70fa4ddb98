"""A table of bytes that is read a row at a time from a file without a name, and so takes no memory of ours."""

import os
import tempfile
import weakref
from pathlib import Path

import numpy as np
import numpy.typing as npt


class Rows:
    """Rows of a table by their numbers, as indexing it with an array gives them. The file goes with the last use."""

    def __init__(self, table: npt.NDArray[np.uint8], folder: Path) -> None:
        """Raises OSError where the folder takes no such file."""
        self._width = table.shape[1]
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(np.ascontiguousarray(table).data)
            file.flush()
            # What `open` gives is closed here, whoever still holds it; this one when nobody does.
            self._fd = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._fd)

    def __getitem__(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        width = self._width
        read = b"".join([os.pread(self._fd, width, number * width) for number in numbers.tolist()])
        return np.frombuffer(read, np.uint8).reshape(len(numbers), width)
