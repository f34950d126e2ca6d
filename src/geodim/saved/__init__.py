"""Results that were saved, read with suspicion: one table of fields for every kind of result, and the relations between them."""
