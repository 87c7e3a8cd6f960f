"""The private model of a namespace: a low-rank correction of questions, learned from what the namespace teaches."""
