"""What holds for every test: examples of properties are the same in every run."""

from hypothesis import settings

# A test that fails today and not tomorrow helps nobody; `pytest --hypothesis-profile=explore` looks further.
settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", max_examples=1000, deadline=None)
settings.load_profile("same")
