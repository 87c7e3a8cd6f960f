"""How many old memories about one thing become one: grouping, the merged text, the plan."""
