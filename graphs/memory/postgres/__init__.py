"""Memory in a Postgres database: what the memory file holds, for many processes and machines."""
