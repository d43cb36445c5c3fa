"""The text on which the demonstration model is trained: a grammar, not a collection of anybody's documents."""
