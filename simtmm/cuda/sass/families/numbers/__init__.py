"""What machine instructions compute: whole numbers, bits, real numbers of each width, and conversions."""
