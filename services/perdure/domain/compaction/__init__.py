"""A long memory becomes a short stub in the context, its original kept: stub, probe, plan."""
