/** The patterns that an index looks up by themselves; further words are compared. */
const indexed = [1, 2, 3]

/**
 * The SQL condition that a text contains a search: each of its words is a part of one of the text's, or the whole is without spaces and
 * punctuation. `spelling` is `spelling()` of the text, and `q` the parameter with the search. Patterns are computed once.
 */
export function containsParts(spelling: string, q: string): string {
  return contains(spelling, q, q)
}

/** As `containsParts`, for texts whose words are searched by their beginnings as well: it does not look for short words alone. */
export function containsLongParts(spelling: string, q: string): string {
  return contains(spelling, q, `with_long_word(${q})`)
}

function contains(spelling: string, q: string, words: string): string {
  const each = indexed.map((word) => `${spelling} ~ (select part_pattern(${words}, ${word}))`)
  return `(${each.join(' and ')} and ${spelling} ~ all (array(select unnest(further_patterns(${q}))))
    or ${spelling} ~ (select joined_pattern(${q})))`
}
