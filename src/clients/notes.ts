import { parseIsoTime } from '../platform/calendar.ts'
import { Problem } from '../platform/problems.ts'
import type { ItemKind } from './kinds.ts'
import { newNote, note, noteChange, noteList } from './schema.ts'

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
    if (typeof body['date'] === 'string' && !isDay(body['date'])) {
      throw new Problem('invalid_field', 'The field date must be a calendar date: 2026-03-12.', { field: 'date' })
    }
    return body
  },
  toFields: ({ date, participants, text }) => ({ date, participants, text }),
} satisfies ItemKind)

const isDay = (text: string) => text.length === 10 && parseIsoTime(text) !== undefined
