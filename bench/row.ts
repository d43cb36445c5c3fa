/** One measured figure, with a sample per round. */
export interface Row {
  readonly name: string
  /** requests/s, tokens/s, ×, MB, s, … */
  readonly unit: string
  readonly samples: readonly number[]
  /** The median must meet this goal, or the benchmark fails. */
  readonly goal?: Goal
  /** A later goal. Missing it does not fail the benchmark. */
  readonly nextGoal?: Goal
}

export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** The middle sample; for an even number of samples, the mean of the middle two. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
}

/** Whether the median of the samples meets a goal; undefined without a goal. */
export function isMet(samples: readonly number[], goal: Goal | undefined): boolean | undefined {
  if (!goal) return undefined
  return 'atLeast' in goal ? median(samples) >= goal.atLeast : median(samples) <= goal.atMost
}

/** The rows as a table for a terminal: name, median, minimum and maximum, the goal and the next goal, each with its result. */
export function formatTable(rows: readonly Row[]): string {
  const cells = rows.map(({ name, unit, samples, goal, nextGoal }) => [
    name,
    `${short(median(samples))} ${unit}`,
    samples.length > 1 ? `${short(Math.min(...samples))} … ${short(Math.max(...samples))}` : '',
    goal ? goalText(goal) : '',
    { true: 'met', false: 'MISSED', undefined: '' }[`${isMet(samples, goal)}`] ?? '',
    nextGoal ? goalText(nextGoal) : '',
    { true: 'met', false: 'not yet', undefined: '' }[`${isMet(samples, nextGoal)}`] ?? '',
  ])
  const head = ['', 'median', 'min … max', 'goal', '', 'next goal', '']
  const all = [head, ...cells]
  const widths = head.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)))
  return all
    .map((line) =>
      line
        .map((cell, column) => pad(cell, widths[column] ?? 0, column))
        .join('   ')
        .trimEnd(),
    )
    .join('\n')
}

const pad = (cell: string, width: number, column: number): string =>
  column === 0 ? cell.padEnd(width) : cell.padStart(width)

const goalText = (goal: Goal): string => ('atLeast' in goal ? `≥ ${short(goal.atLeast)}` : `≤ ${short(goal.atMost)}`)

const short = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value < 10 ? 2 : 1)
