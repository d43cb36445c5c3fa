import type { ChangedItem } from '../../../src/overview/schema.ts'
import { content } from '../../content.ts'
import { nouns } from '../../fields.ts'

const list = new Intl.ListFormat('en-GB')

const verbs: Readonly<Record<string, string>> = {
  created: 'added',
  imported: 'imported',
  changed: 'changed',
  removed: 'deleted',
  archived: 'archived',
  unarchived: 'restored from the archive',
  restored: 'restored',
  approved: 'approved',
  sent: 'sent',
}

/** The changes to an item and their authors: `Added and approved by you and Mei Sakamoto`. */
export function doneText({ actions, by }: ChangedItem, consultant: string): string {
  const done = actions.map((action) => verbOf(action, consultant))
  const isNew = done.includes('added')
  // The first text of a new item may have been saved several times.
  const shown = [...new Set(done)].filter((verb) => !(isNew && verb === 'changed'))
  const people = by.map(({ id, name }) => (id === content.viewer?.person.id ? 'you' : name))
  const text = `${list.format(shown)} ${people.length === 0 ? 'on the command line' : `by ${list.format(people)}`}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function verbOf(action: string, consultant: string): string {
  if (action === 'client_assigned') return `assigned to ${consultant}`
  const did = action.split('_').at(-1) ?? ''
  return verbs[did] ?? did
}

/** The page of an item, or of its kind once the item is archived. */
export function addressOfItem({ noun, id, actions }: ChangedItem, clientId: string): string {
  const record = `/clients/${clientId}`
  if (noun === 'client') return record
  const items = `${record}/${nouns[noun].path}`
  return actions.at(-1) === `${noun}_archived` ? items : `${items}/${id}`
}
