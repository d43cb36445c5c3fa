import { checkDay } from './values.ts'
import type { ItemKind } from './kinds.ts'
import { newNote, note, noteChange, noteList } from '../schema.ts'

/** The notes of a meeting, with its day and participants. */
export const notes: ItemKind = Object.freeze({
  noun: 'note',
  plural: 'notes',
  columns: ['date', 'participants', 'text'],
  order: 'n.date desc, n.created_at desc, n.id desc',
  shape: note,
  listShape: noteList,
  newBody: newNote,
  changeBody: noteChange,
  defaults: { participants: [] },
  toColumns(body) {
    checkDay('date', body['date'])
    return body
  },
  toFields: ({ date, participants, text }) => ({ date, participants, text }),
} satisfies ItemKind)
