"""What Perdure knows about memories, without I/O, clock, randomness or logging."""
