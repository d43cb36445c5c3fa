import { useRef, useState } from 'react'
import type { Note } from '../../src/clients/schema.ts'
import { ApiError } from '../api.ts'
import { content } from '../content.ts'
import { bodyOf, isSame, meansSame, valuesOf, type Field, type Value, type Values } from '../fields.ts'
import { believed } from '../wire.ts'
import { useUnsaved } from './unsaved.tsx'

/** What somebody else has made of the same thing meanwhile. */
export interface Conflict {
  readonly theirs: Values
  readonly version: number
  /** The name of who did, where the server says. */
  readonly by: string | undefined
  /** Whether it was the same person, on another page. */
  readonly isOwn: boolean
}

export interface DraftNeeds {
  readonly fields: readonly Field[]
  /** What the form begins with. */
  readonly initial: Values
  /** The version that it is based on; none for something new. */
  readonly version?: number
  /** Sends the fields that were changed. Throws ApiError. */
  readonly save: (body: Record<string, Value | null>, version: number | undefined) => Promise<unknown>
  /** The address at and below which the form stays on the page. */
  readonly within?: string
  /** What to do with the form once all is saved; until that is done, it is busy. */
  readonly onSaved: () => unknown
}

export type Draft = ReturnType<typeof useDraft>

/** Something being written: what it holds, whether that is saved, and what stands in the way. */
export function useDraft({ fields, initial, version, save, within, onSaved }: DraftNeeds) {
  const [base, setBase] = useState({ values: initial, version })
  const [values, setValues] = useState(initial)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const [conflict, setConflict] = useState<Conflict>()
  const isDirty = fields.some(({ name }) => !isSame(values[name], base.values[name]))
  const settle = useUnsaved(isDirty, within)
  /** What was sent without an answer: it may be saved. */
  const lost = useRef<Values>(undefined)

  async function send(next: Values, from: typeof base) {
    setBusy(true)
    setError(undefined)
    try {
      await saveOn(next, from)
      setBase({ ...from, values: next })
      settle()
      await onSaved()
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      if (thrown.status === 0 || thrown.status >= 500) lost.current = next
      const met = conflictOf(fields, thrown)
      if (met) setConflict(met)
      else setError(thrown)
    } finally {
      setBusy(false)
    }
  }

  /** Saves; what is there meanwhile is no conflict where it is the same, or came from here before. Throws ApiError. */
  async function saveOn(next: Values, from: typeof base): Promise<void> {
    try {
      await save(bodyOf(fields, next, from.version === undefined ? {} : from.values), from.version)
    } catch (thrown) {
      const met = thrown instanceof ApiError ? conflictOf(fields, thrown) : undefined
      const isThere = (sent: Values | undefined) =>
        met && sent && fields.every((field) => meansSame(field, sent[field.name], met.theirs[field.name]))
      if (isThere(next)) return
      if (!met || !isThere(lost.current)) throw thrown
      lost.current = undefined
      await saveOn(next, { values: met.theirs, version: met.version })
    }
  }

  return {
    fields,
    values,
    base: base.values,
    isDirty,
    busy,
    error,
    conflict,
    /** Not while it is being saved, when it would be lost: a list to choose from cannot be made read-only. */
    set: (name: string, value: Value) => !busy && setValues((before) => ({ ...before, [name]: value })),
    submit: () => {
      if (!isDirty && base.version !== undefined) onSaved()
      else if (!busy) void send(values, base)
    },
    /** Goes on with what was chosen of both versions. */
    resolve: (chosen: Values) => {
      if (!conflict) return
      const from = { values: conflict.theirs, version: conflict.version }
      setBase(from)
      setValues(chosen)
      setConflict(undefined)
      void send(chosen, from)
    },
    /** Says that nothing of it is wanted any more. */
    settle,
    /** Back to writing; the next save meets the same conflict. */
    postpone: () => setConflict(undefined),
  }
}

function conflictOf(fields: readonly Field[], { status, current }: ApiError): Conflict | undefined {
  if (status !== 412 || typeof current !== 'object' || current === null) return undefined
  const version = 'version' in current ? Number(current.version) : Number.NaN
  const person = 'updated_by' in current ? believed<Note['updated_by']>(current.updated_by) : null
  const isOwn = person !== null && person.id === content.viewer?.person.id
  return { theirs: valuesOf(fields, current), version, by: person?.name, isOwn }
}
