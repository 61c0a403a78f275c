"""Text and how it is compared: plain text, markdown, ids and tags, JSON, instants."""
