"""The fixed mean vector of the embedded model: the corpus it comes from and how it is computed."""
