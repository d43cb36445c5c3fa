import type { Note } from '../../../src/clients/schema.ts'

/** More are of no help, and a record can have 50 000. */
const most = 200

/** The participants of a client's notes, those of the newest note first, each once in whatever case. */
export function participantsOf(notes: readonly Pick<Note, 'date' | 'participants'>[]): string[] {
  const names = new Map<string, string>()
  for (const { participants } of notes.toSorted((a, b) => b.date.localeCompare(a.date))) {
    for (const name of participants) {
      const key = name.toLowerCase()
      if (names.size < most && !names.has(key)) names.set(key, name)
    }
  }
  return [...names.values()]
}
