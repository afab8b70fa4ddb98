"""Where the files that ship with the package are: in the wheel, or in the checkout."""

from importlib.resources import files
from pathlib import Path

from afterword.domain.errors import AfterwordError


def asset(name: str) -> Path:
    """The folder or file `name` (such as `vault_template`). Nobody else builds such a path."""
    installed = Path(str(files("afterword"))) / "_assets" / name
    if installed.exists():
        return installed
    checkout = Path(__file__).resolve().parents[2] / name
    if checkout.exists():
        return checkout
    raise AfterwordError(f"the installation lacks {name}", "install afterword again")
