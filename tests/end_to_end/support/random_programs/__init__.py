"""Random programs: where they come from, and how they are compared with their plain builds."""
