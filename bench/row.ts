/** One thing that was measured, with a sample for every round. */
export interface Row {
  readonly name: string
  /** requests/s, tokens/s, ×, MB, s, … */
  readonly unit: string
  readonly samples: readonly number[]
  /** What the median is held against. */
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number }
}

/** The middle one; of an even number the mean of the two in the middle. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
}

/** Whether the goal is met; undefined where there is none. */
export function isMet({ goal, samples }: Row): boolean | undefined {
  if (!goal) return undefined
  return 'atLeast' in goal ? median(samples) >= goal.atLeast : median(samples) <= goal.atMost
}

/** The rows as a table for a terminal, a line each: name, median, the smallest and the largest, and the goal. */
export function printable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.name,
    `${short(median(row.samples))} ${row.unit}`,
    row.samples.length > 1 ? `${short(Math.min(...row.samples))} … ${short(Math.max(...row.samples))}` : '',
    row.goal ? goalOf(row.goal) : '',
    { true: 'met', false: 'MISSED', undefined: '' }[`${isMet(row)}`] ?? '',
  ])
  const head = ['', 'median', 'min … max', 'goal', '']
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

const goalOf = (goal: NonNullable<Row['goal']>): string =>
  'atLeast' in goal ? `≥ ${short(goal.atLeast)}` : `≤ ${short(goal.atMost)}`

const short = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value < 10 ? 2 : 1)
