"""Exchange between machines: numbered records, one append-only series a machine. Knows nothing of afterword."""
