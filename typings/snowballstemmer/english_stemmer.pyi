class EnglishStemmer:
    def stemWord(self, word: str) -> str: ...  # noqa: N802
