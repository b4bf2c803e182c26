"""Pages in a browser, and parts of pages larger than a test would make them."""
