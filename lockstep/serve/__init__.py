"""The server: the engine behind HTTP in OpenAI's form, everything that it executes a schedule."""
