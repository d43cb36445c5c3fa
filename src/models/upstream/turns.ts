/** Something that takes part of the work; 1 unless told. */
export interface Weighted {
  readonly weight?: number | undefined
}

/**
 * Takes turns in proportion to the weights, spread out rather than in runs: weights 2 and 1 give a b a, a b a. (Smooth
 * weighted round-robin, as nginx does it.) Only who `may` take one does; `undefined` when nobody may.
 */
export function createTurns<Entry extends Weighted>(
  entries: readonly Entry[],
): { next(may?: (entry: Entry) => boolean): Entry | undefined } {
  const all = entries.map((entry) => ({ entry, weight: entry.weight ?? 1, turn: 0 }))
  const [first] = all
  if (!first) throw new RangeError('Nobody is there to take turns.')

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

  // On the path of every request; most models have one endpoint.
  const only = (may: (entry: Entry) => boolean = () => true) => (may(first.entry) ? first.entry : undefined)
  return Object.freeze({ next: all.length > 1 ? next : only })
}
