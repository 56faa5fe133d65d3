"""Finding things by what somebody remembers of their names: the query, pinyin, and what a room offers to be found."""
