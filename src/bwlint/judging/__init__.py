"""What rules use: the context they read, and the drafts, evidence and claims they produce."""
