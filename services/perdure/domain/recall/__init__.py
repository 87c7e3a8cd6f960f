"""How a question becomes a ranked answer: query, fusion, scoring, diversity, budget."""
