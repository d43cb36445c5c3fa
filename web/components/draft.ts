import { useState } from 'react'
import { ApiError } from '../api.ts'
import { bodyOf, isSame, valuesOf, type Field, type Value, type Values } from '../fields.ts'
import { useUnsaved } from './unsaved.tsx'

/** What somebody else has made of the same thing meanwhile. */
export interface Conflict {
  readonly theirs: Values
  readonly version: number
  /** The name of who did, where the server says. */
  readonly by: string | undefined
}

export interface DraftNeeds {
  readonly fields: readonly Field[]
  /** What the form begins with. */
  readonly initial: Values
  /** The version that it is based on; none for something new. */
  readonly version?: number
  /** Sends the fields that were changed. Throws ApiError. */
  readonly save: (body: Record<string, Value | null>, version: number | undefined) => Promise<unknown>
  /** What to do with the form once all is saved. */
  readonly onSaved: () => void
}

export type Draft = ReturnType<typeof useDraft>

/** Something being written: what it holds, whether that is saved, and what stands in the way. */
export function useDraft({ fields, initial, version, save, onSaved }: DraftNeeds) {
  const [base, setBase] = useState({ values: initial, version })
  const [values, setValues] = useState(initial)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const [conflict, setConflict] = useState<Conflict>()
  const isDirty = fields.some(({ name }) => !isSame(values[name], base.values[name]))
  const settle = useUnsaved(isDirty)

  async function send(next: Values, from: typeof base) {
    setBusy(true)
    setError(undefined)
    try {
      await save(bodyOf(fields, next, from.version === undefined ? {} : from.values), from.version)
      setBase({ ...from, values: next })
      settle()
      onSaved()
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      if (thrown.status === 412) setConflict(conflictOf(fields, thrown.current))
      else setError(thrown)
    } finally {
      setBusy(false)
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
    set: (name: string, value: Value) => setValues((before) => ({ ...before, [name]: value })),
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
    /** Back to writing; the next save meets the same conflict. */
    postpone: () => setConflict(undefined),
  }
}

function conflictOf(fields: readonly Field[], current: unknown): Conflict | undefined {
  if (typeof current !== 'object' || current === null) return undefined
  const version = 'version' in current ? Number(current.version) : Number.NaN
  const by = 'updated_by' in current ? nameIn(current.updated_by) : undefined
  return { theirs: valuesOf(fields, current), version, by }
}

function nameIn(person: unknown): string | undefined {
  return typeof person === 'object' && person !== null && 'name' in person ? String(person.name) : undefined
}
