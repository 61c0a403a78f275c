"""The rules of redaction, one module per kind of place where a secret is found."""
