/**
 * The time that an ISO text in UTC says, a day or a day and a time; undefined for what the calendar does not have.
 * JavaScript takes 30 February for 2 March, and has a year 0, which PostgreSQL has not.
 */
export function timeOf(text: string): Date | undefined {
  if (!/^(?!0000)\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/.test(text)) return undefined
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) return undefined
  return time.toISOString().startsWith(text.slice(0, 16).replace('Z', '')) ? time : undefined
}
