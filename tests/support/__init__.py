"""What tests share: fakes at ports, a private running stack, datasets."""
