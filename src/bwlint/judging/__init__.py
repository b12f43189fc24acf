"""What a rule sees and says: context, evidence, drafts, claims."""
