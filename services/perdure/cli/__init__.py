"""The command line: thin commands over the gateway, and the running of the local services."""
