"""Exchange between machines: numbered records, one append-only series per machine. Knows nothing of afterword."""
