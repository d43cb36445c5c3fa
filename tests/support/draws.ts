/** fast-check parameters of a property test. */
export interface Draws {
  readonly numRuns: number
  readonly seed: number
}

/** `npm test` draws the same cases in every run, so that no run is red by chance. */
const fixedSeed = 20261128

/** Whether this is the long form of the suite, `npm run endure`. */
export const isEndure = process.env['ENDURE'] === '1'

/**
 * How many cases a property test draws, and from which seed: a fixed one in `npm test`, in `npm run endure` the seed of the
 * run, which it prints. SEED repeats a run.
 */
export function draws(runs: { readonly test: number; readonly endure: number }): Draws {
  const seed = Number(process.env['SEED'] ?? fixedSeed)
  return { numRuns: isEndure ? runs.endure : runs.test, seed }
}
