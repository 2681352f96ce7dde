"""What a warp does from one wait to the next: its operations, mbarriers, products of matrices (section 3)."""
