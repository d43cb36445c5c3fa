import type { Logger } from 'pino'
import type { RecordAccess } from '../access/access.ts'
import { byService, personActor } from '../access/actor.ts'
import type { Audit } from '../access/audit/audit.ts'
import { mayOnSome, scopeOf } from '../access/policy.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Database } from '../platform/database/database.ts'
import { repeat } from '../platform/flow/repeat.ts'
import { Problem } from '../platform/problems.ts'
import { titleOf } from './present.ts'
import { readUnsettled, settleDay, type MailedPerson } from './task-mail-store.ts'
import { readDueTasks } from './tasks-store.ts'

interface TaskMailNeeds {
  readonly database: Database
  readonly access: Pick<RecordAccess, 'as'>
  readonly audit: Pick<Audit, 'recordWithin'>
  /** Undefined if no mail server is configured. */
  readonly mailer: Mailer | undefined
  /** From when mail is queued: `07:00`. */
  readonly mailFrom: string
  /** The time zone of the firm, a name of the IANA database. */
  readonly timeZone: string
  readonly log: Logger
  /** ms since 1970. Default: the system's. */
  readonly clock?: () => number
  /** Polling interval in ms. Default: a minute. */
  readonly pace?: number
}

/** A morning on which tasks are mailed. */
interface Morning {
  readonly day: string
  /** Noon: after it, nothing of the day is mailed. */
  readonly until: Date
}

/**
 * Starts mailing people their tasks, each working day once. Every instance does this. What an instance leaves undone is done until noon by
 * another one, or by itself.
 */
export function startTaskMail(needs: TaskMailNeeds): { close(): Promise<void> } {
  const { mailer, log, pace = 60_000 } = needs
  if (mailer === undefined) return Object.freeze({ close: () => Promise.resolve() })
  const mailing = repeat({ name: 'mail of tasks', pause: pace, work: () => mailAll(needs, mailer), log })
  return Object.freeze({ close: () => mailing.stop() })
}

/** Continues with the next person if a mail fails. */
async function mailAll(needs: TaskMailNeeds, mailer: Mailer): Promise<void> {
  const { database, log } = needs
  const morning = morningOf(needs)
  if (morning === undefined) return
  let queued = 0
  for (const person of await readUnsettled(database, morning.day)) {
    try {
      if (await mailOne(needs, mailer, { person, morning })) queued++
    } catch (error) {
      if (error instanceof Problem && error.code === 'unavailable') throw error
      log.warn({ person, err: error }, 'mail of tasks: not queued, will be retried')
    }
  }
  if (queued > 0) log.info({ people: queued, day: morning.day }, 'mail of tasks: queued')
}

/** Undefined if nothing is mailed now. Holidays are not known. */
function morningOf({ mailFrom, timeZone, clock = Date.now }: TaskMailNeeds): Morning | undefined {
  const now = Temporal.Instant.fromEpochMilliseconds(clock()).toZonedDateTimeISO(timeZone)
  const time = now.toPlainTime().toString({ smallestUnit: 'minute' })
  if (now.dayOfWeek > 5 || time < mailFrom || time >= '12:00') return undefined
  const noon = now.toPlainDate().toZonedDateTime({ timeZone, plainTime: '12:00' })
  return { day: now.toPlainDate().toString(), until: new Date(noon.epochMilliseconds) }
}

/** Whether the person has tasks to mail. The day is settled with the mail, in one transaction. */
function mailOne(
  { database, access, audit }: TaskMailNeeds,
  mailer: Mailer,
  { person, morning: { day, until } }: { readonly person: string; readonly morning: Morning },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const mailed = await settleDay(tx, person, day)
    if (mailed === undefined) return false
    const values = await readTasks(access, mailed, day)
    if (values === undefined) return false
    await mailer.send(tx, { to: mailed.email, onlyFor: 'record_reader', until, template: 'due_tasks', values })
    await audit.recordWithin(tx, [
      { ...byService, action: 'task_mail_queued', outcome: 'allowed', noun: 'person', nounId: person },
    ])
    return true
  })
}

/** Read as the person, so that row-level security decides what they see. Undefined if nothing is due. */
async function readTasks(access: TaskMailNeeds['access'], { id, role }: MailedPerson, day: string) {
  const actor = personActor({ id, role })
  if (!mayOnSome(actor, 'list', 'client')) return undefined
  const scope = scopeOf(actor, 'list', 'client')
  const [[row]] = await access.as({ actor }, [readDueTasks(scope, { personId: id, today: day, weekEnd: day })])
  const { overdue = 0, today = 0 } = row?.people?.find((each) => each.id === id) ?? {}
  if (overdue + today === 0) return undefined
  const listed = (row?.items ?? []).map((task) => ({
    title: titleOf(task),
    overdueSince: task.due < day ? words.format(new Date(task.due)) : null,
  }))
  return { overdue, today, listed }
}

/** Mail to people is in English. A day is read as midnight in UTC. */
const words = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
