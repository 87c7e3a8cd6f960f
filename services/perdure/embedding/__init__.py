"""The embedding service: text to unit vectors of one space, batched across callers and cached."""
