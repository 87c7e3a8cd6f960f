"""How things are done: demonstrations, the skills compiled from them, and what became of running those."""
