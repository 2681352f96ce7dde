"""The least that a kernel's threads do, compared with what they do."""
