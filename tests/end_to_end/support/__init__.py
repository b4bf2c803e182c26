"""What the tests share, and readers, solvers and models that are independent of Trackway."""
