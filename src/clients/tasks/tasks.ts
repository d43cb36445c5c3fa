import { recordId } from '../../platform/database/uuid.ts'
import { checkDay, personOf, timeIfAny } from '../items/values.ts'
import type { ItemKind } from '../items/kinds.ts'
import { newTask, task, taskChange, taskList } from '../schema.ts'

/** What is to be done for a client, by a day and by a person: the client's consultant, or the partner whom a partner chose. */
export const tasks: ItemKind = Object.freeze({
  noun: 'task',
  plural: 'tasks',
  columns: ['title', 'due', 'priority', 'status', 'owner_id', 'about_noun', 'about_id'],
  shown: ['done_at'],
  people: ['done_by'],
  computed: {
    owner: `(select json_build_object('id', o.id, 'name', o.name) from person o
      where o.id = case when n.owner_id is null then c.consultant_id else task_owner(n.owner_id, c.consultant_id) end)`,
    about_title: 'case when n.about_id is not null then task_subject(n.client_id, n.about_noun, n.about_id) end',
  },
  statusActions: { done: 'task_done' },
  order: `n.status = 'done', n.done_at desc, n.due, array_position(array['high', 'normal', 'low'], n.priority), n.id`,
  shape: task,
  listShape: taskList,
  newBody: newTask,
  changeBody: taskChange,
  defaults: { priority: 'normal', status: 'open' },
  toColumns({ about, owner_id, ...rest }) {
    checkDay('due', rest['due'])
    return { ...rest, ...(owner_id !== undefined && { owner_id: idOf(owner_id) }), ...columnsOf(about) }
  },
  toFields: ({ title, due, priority, status, owner_id, about_noun, about_id }) => ({
    title,
    due,
    priority,
    status,
    owner_id,
    about: about_id === null ? null : { noun: about_noun, id: about_id },
  }),
  toStateFields: ({ owner, about_title, done_at, done_by, done_by_name }) => ({
    owner,
    about_title: about_title ?? null,
    done_at: timeIfAny(done_at),
    done_by: personOf(done_by, done_by_name),
  }),
} satisfies ItemKind)

/** The columns that say what a task concerns, both null for the client itself. None if that is not to change. */
function columnsOf(about: unknown): Readonly<Record<string, unknown>> {
  if (about === undefined) return {}
  if (typeof about !== 'object' || about === null) return { about_noun: null, about_id: null }
  const { noun, id }: { noun?: unknown; id?: unknown } = about
  return { about_noun: noun, about_id: idOf(id) }
}

const idOf = (value: unknown): string | null => (typeof value === 'string' ? recordId(value) : null)
