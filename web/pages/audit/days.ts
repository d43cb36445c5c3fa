/** The instant at which a day of this person's calendar begins, as the log is asked for it: its own days are in UTC. */
export function beginOf(day: string, after = 0): string {
  const [, year, month, date] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []).map(Number)
  if (year === undefined || month === undefined || date === undefined) return ''
  const begin = new Date(year, month - 1, date + after)
  // What a calendar of four digits cannot say limits nothing.
  return begin.getFullYear() > 9999 ? '' : begin.toISOString()
}

/** The instant at which it ends. */
export function endOf(day: string): string {
  return beginOf(day, 1)
}

/** The day in which an instant lies here, or, of an end, the day that ends then. */
export function dayOf(instant: string, isEnd = false): string {
  const time = new Date(new Date(instant).getTime() - (isEnd ? 1 : 0))
  if (Number.isNaN(time.getTime())) return ''
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()]
  return parts.map((part, index) => String(part).padStart(index === 0 ? 4 : 2, '0')).join('-')
}
