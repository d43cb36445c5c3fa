/** The instant at which a day starts in the person's time zone. The audit log itself uses UTC days. */
export function beginOf(day: string, after = 0): string {
  const [, year, month, date] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []).map(Number)
  if (year === undefined || month === undefined || date === undefined) return ''
  const begin = new Date(year, month - 1, date + after)
  // A year beyond four digits sets no limit.
  return begin.getFullYear() > 9999 ? '' : begin.toISOString()
}

/** The instant at which a day ends in the person's time zone. */
export function endOf(day: string): string {
  return beginOf(day, 1)
}

/** The local day of an instant; for an end, the day that ends then. */
export function dayOf(instant: string, isEnd = false): string {
  const time = new Date(new Date(instant).getTime() - (isEnd ? 1 : 0))
  if (Number.isNaN(time.getTime())) return ''
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()]
  return parts.map((part, index) => String(part).padStart(index === 0 ? 4 : 2, '0')).join('-')
}
