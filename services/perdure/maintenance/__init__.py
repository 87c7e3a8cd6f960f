"""The maintenance service: jobs, and the dispatcher that hands them to workers."""
