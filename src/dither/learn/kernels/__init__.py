"""What runs on a GPU, written in Triton. Imported only where parameters are on one."""
