"""Instructions that access memory: loads, stores, atomics, textures, and copies that go on by themselves."""
