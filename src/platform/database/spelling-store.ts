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

/**
 * What every text fulfils that has the words of a search or their beginnings, or that `containsLongParts`. Most others do not, and fail it much
 * faster. For a search that `hasOneSpelling` it is the same as `containsLongParts`, but for short words alone.
 */
export function mayContain(spelling: string, q: string): string {
  return `(' ' || ${spelling} like all ((select rough_patterns(${q}))::text[]) or ${spelling} like (select rough_joined_pattern(${q})))`
}

/** Whether the words of a search have one spelling only. */
export function hasOneSpelling(q: string): string {
  return `(select is_plain(${q}))`
}

function contains(spelling: string, q: string, words: string): string {
  const each = indexed.map((word) => `${spelling} ~ (select part_pattern(${words}, ${word}))`)
  return `(${each.join(' and ')} and ${spelling} ~ all (array(select unnest(further_patterns(${q}))))
    or ${spelling} ~ (select joined_pattern(${q})))`
}
