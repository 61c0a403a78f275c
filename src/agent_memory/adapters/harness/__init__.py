"""One module per harness, listed in one explicit dict."""
