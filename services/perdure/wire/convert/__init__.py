"""Protobuf messages to and from Perdure's values, one module a subject, both directions.

What comes in is checked for form here (enums, ids, times, ranges) and for meaning in the domain.
"""
