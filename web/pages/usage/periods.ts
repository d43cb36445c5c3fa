/** Days in UTC as `YYYY-MM-DD`, both inclusive. */
interface Period {
  readonly from: string
  readonly to: string
}

export const periodNames = {
  today: 'Today',
  week: '7 days',
  days: '30 days',
  month: 'This month',
  custom: 'Custom',
} as const
export type PeriodName = keyof typeof periodNames

const day = 86_400_000

/** The days of a period that ends today, in UTC. */
export function periodOf(name: Exclude<PeriodName, 'custom'>, now: number): Period {
  const to = dayAt(now)
  switch (name) {
    case 'today':
      return { from: to, to }
    case 'week':
      return { from: dayAt(now - 6 * day), to }
    case 'days':
      return { from: dayAt(now - 29 * day), to }
    case 'month':
      return { from: `${to.slice(0, 8)}01`, to }
  }
}

/** The name of a period, or `custom`. */
export function nameOfPeriod({ from, to }: Period, now: number): PeriodName {
  const names = ['today', 'week', 'days', 'month'] as const
  const same = names.find((name) => {
    const period = periodOf(name, now)
    return period.from === from && period.to === to
  })
  return same ?? 'custom'
}

const dayAt = (time: number): string => new Date(time).toISOString().slice(0, 10)
