"""What Perdure does, one verb a module: load by ports, decide in the domain, apply in one transaction."""
