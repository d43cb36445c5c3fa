import { ICalCalendar, ICalEventTransparency } from 'ical-generator'
import type { RecordAccess } from '../access/access.ts'
import type { PersonActor, Visit } from '../access/actor.ts'
import { mayOnSome, scopeOf } from '../access/policy.ts'
import { titleOf } from './present.ts'
import { readDatedTasks, type DatedTaskRow } from './tasks-store.ts'

/** The open tasks of a person, as calendar programs read them. */
export interface TaskCalendar {
  /** As iCalendar (RFC 5545). Undefined if the person's role has no tasks. Writes an audit event. */
  read(visit: Visit & { readonly actor: PersonActor }): Promise<string | undefined>
}

interface CalendarNeeds {
  readonly access: Pick<RecordAccess, 'as' | 'note'>
  readonly baseUrl: string
}

export function createTaskCalendar({ access, baseUrl }: CalendarNeeds): TaskCalendar {
  return Object.freeze<TaskCalendar>({
    async read(visit) {
      if (!mayOnSome(visit.actor, 'list', 'client')) return undefined
      const scope = scopeOf(visit.actor, 'list', 'client')
      const [tasks] = await access.as(visit, [readDatedTasks(scope, visit.actor.id)])
      await access.note(visit, { action: 'calendar_read', noun: 'person', nounId: visit.actor.id })
      return writeCalendar(tasks, baseUrl)
    },
  })
}

/** RFC 5545: 1 is the highest, 5 is normal, and 9 is the lowest. */
const priorities = { high: 1, normal: 5, low: 9 } as const

/** Each task is an event of a whole day that keeps nobody busy: programs that subscribe to calendars seldom show tasks. */
function writeCalendar(tasks: readonly DatedTaskRow[], baseUrl: string): string {
  const calendar = new ICalCalendar({ name: 'Tasks', prodId: { company: 'Tollgate', product: 'Tasks' } })
  for (const task of tasks) {
    const { noun, id, clientId, client, due, priority, updatedAt } = task
    calendar.createEvent({
      id: `${noun}-${id}`,
      stamp: updatedAt,
      // Midnight in UTC: the package writes the date of that, in whatever zone this process runs.
      start: new Date(due),
      allDay: true,
      summary: `${titleOf(task)} (${client})`,
      url: new URL(`/clients/${clientId}/${noun}s`, baseUrl).href,
      priority: priorities[priority],
      transparency: ICalEventTransparency.TRANSPARENT,
    })
  }
  return calendar.toString()
}
