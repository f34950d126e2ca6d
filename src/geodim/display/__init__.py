"""What people look at: plots of results, and the report."""
