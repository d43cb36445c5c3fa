/** Days as `YYYY-MM-DD`, both inclusive. */
interface Span {
  readonly name: string
  readonly from: string
  readonly to: string
}

/** The months and years around a day that a bookkeeper asks for. */
export function spansAround(day: string): readonly Span[] {
  const [year = 0, month = 0] = day.split('-').map(Number)
  return [
    { name: 'This month', from: dayOf(year, month, 1), to: dayOf(year, month + 1, 0) },
    { name: 'Last month', from: dayOf(year, month - 1, 1), to: dayOf(year, month, 0) },
    { name: 'This year', from: dayOf(year, 1, 1), to: dayOf(year, 12, 31) },
    { name: 'Last year', from: dayOf(year - 1, 1, 1), to: dayOf(year - 1, 12, 31) },
  ]
}

/** The day 0 is the last of the month before. */
const dayOf = (year: number, month: number, day: number): string =>
  new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)
