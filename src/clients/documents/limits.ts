/** The most bytes of a document. */
export const mostBytes = 100_000_000

/** What is read of one file at most. A text beyond that is cut off, and neither found nor drafted from. */
export const textLimits = { pages: 5000, characters: 5_000_000 }
