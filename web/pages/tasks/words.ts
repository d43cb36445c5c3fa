import type { Task } from '../../../src/clients/schema.ts'
import { nouns, type Values } from '../../fields.ts'
import { dateText } from '../../locale.ts'
import { today } from '../../zone.ts'

/** The initial values of a new task. */
export const newTask: Values = { title: '', due: '', priority: 'normal', status: 'open', owner_id: '' }

interface BadgeWords {
  readonly text: string
  readonly color: string
}

/** What a task's badge says: that it is done, overdue or due today, or else that it matters more than others. */
export function taskBadge({ status, due, priority }: Task): BadgeWords | undefined {
  if (status === 'done') return { text: 'Done', color: 'teal' }
  const badge = due === null ? undefined : dayBadge(due)
  return badge ?? (priority === 'high' ? { text: 'High priority', color: 'orange' } : undefined)
}

/** Whether a day is past or is today. */
export function dayBadge(due: string): BadgeWords | undefined {
  if (due < today()) return { text: 'Overdue', color: 'red' }
  return due === today() ? { text: 'Today', color: 'orange' } : undefined
}

/** The day of a task, who does it, and what it concerns: `due 19 Mar 2026 · Daniel Osei · note of 12 Mar 2026`. */
export function taskAside(task: Task): string {
  const { due, owner, status, done_by: by } = task
  const person = status === 'done' ? by?.name : owner.name
  return [due === null ? '' : `due ${dateText(due)}`, person, concernOf(task)].filter(Boolean).join(' · ')
}

function concernOf({ about, about_title: title }: Task): string {
  if (about === null) return ''
  if (about.noun === 'invoice') return title ? `invoice ${title}` : 'an invoice'
  const { one } = nouns[about.noun]
  if (title === null) return one
  return about.noun === 'note' ? `${one} of ${dateText(title)}` : `${one} “${title}”`
}
