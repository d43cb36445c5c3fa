/** `weight` is the share of the work, default 1. */
export interface WeightedMember {
  readonly weight?: number | undefined
}

/**
 * Takes turns in proportion to the weights, without runs: weights 2 and 1 give a b a, a b a. This is the smooth weighted
 * round-robin of nginx. `next` considers the entries that `may` accepts, and returns undefined if it accepts none.
 */
export function createTurns<Entry extends WeightedMember>(
  entries: readonly Entry[],
): { next(may?: (entry: Entry) => boolean): Entry | undefined } {
  const all = entries.map((entry) => ({ entry, weight: entry.weight ?? 1, turn: 0 }))
  const [first] = all
  if (!first) throw new RangeError('There are no entries to take turns.')

  function next(may: (entry: Entry) => boolean = () => true): Entry | undefined {
    const able = all.filter(({ entry }) => may(entry))
    let [best] = able
    if (best === undefined) return undefined
    let total = 0
    for (const candidate of able) {
      candidate.turn += candidate.weight
      total += candidate.weight
      if (candidate.turn > best.turn) best = candidate
    }
    best.turn -= total
    return best.entry
  }

  // Every request takes this path, and most models have one endpoint.
  const only = (may: (entry: Entry) => boolean = () => true) => (may(first.entry) ? first.entry : undefined)
  return Object.freeze({ next: all.length > 1 ? next : only })
}
