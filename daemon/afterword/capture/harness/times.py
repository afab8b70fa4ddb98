"""The times transcripts give, as UTC microseconds."""

from afterword.domain.clock import parse_rfc3339


def moment(given: str | float | None) -> int | None:
    """UTC microseconds of an RFC 3339 text or of epoch seconds, milliseconds or microseconds; None otherwise."""
    if given is None:
        return None
    if isinstance(given, str):
        return parse_rfc3339(given)
    size = abs(given)
    if size < 1e11:
        return int(given * 1_000_000)
    if size < 1e14:
        return int(given * 1000)
    return int(given) if size < 1e17 else None
