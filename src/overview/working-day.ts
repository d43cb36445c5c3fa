/** A working day of the firm. */
export interface WorkingDay {
  /** `2026-03-12` */
  readonly day: string
  /** Its midnight in the firm's time zone. */
  readonly startsAt: Date
}

/** How many days before Monday, Saturday and Sunday the last working day was; one before the others (ISO 8601 numbers). */
const back: Readonly<Record<number, number>> = { 1: 3, 7: 2 }

/** The Sunday of the week of a day, `2026-03-15` for `2026-03-12`. Weeks begin on Monday (ISO 8601). */
export function weekEnd(day: string): string {
  const date = Temporal.PlainDate.from(day)
  return date.add({ days: 7 - date.dayOfWeek }).toString()
}

/** The last working day before today: yesterday, or Friday. Holidays are not known. `now` is in ms since 1970. */
export function lastWorkingDay(now: number, timeZone: string): WorkingDay {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).toPlainDate()
  const day = today.subtract({ days: back[today.dayOfWeek] ?? 1 })
  return { day: day.toString(), startsAt: new Date(day.toZonedDateTime(timeZone).epochMilliseconds) }
}
