"""Tells AI tools where Perdure is, by one entry in each one's own settings file, and takes it out again.

``hosts`` is the one table; ``jsonc``, ``toml_text`` and ``yaml_text`` edit text and leave every other byte alone;
``files`` writes; ``connection`` puts them together. Refuses to know the command line and the services.
"""
