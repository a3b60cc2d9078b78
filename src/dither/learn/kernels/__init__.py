"""Code that runs on a GPU, written in Triton. Imported only if parameters are on one."""
