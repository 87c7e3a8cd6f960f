"""The retrieval service: memories and access over gRPC. A thin shell over ``usecases``."""
