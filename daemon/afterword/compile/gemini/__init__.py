"""The engine that asks Gemini: prompts and their checks, the way to the server, what was answered and what it cost."""
