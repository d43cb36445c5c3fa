import { useCallback, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useRouteLoaderData } from 'react-router'
import { ApiError } from '../api.ts'
import { UnclearValue, bodyOf, isSame, meansSame, valuesOf, type Field, type Value, type Values } from '../fields.ts'
import { keep, keptOf, type Kept } from '../kept.ts'
import { useKeeping } from './keeping.ts'
import { changerOf, explained, isSent, type RefusedSave } from './refused-save.ts'
import { useSelfSaving } from './self-saving.ts'
import { useUnsaved } from './unsaved.tsx'

/** A version that was saved while this form was open. */
export interface Conflict {
  readonly theirs: Values
  readonly version: number
  /** The name of the person who saved it, if the server says. */
  readonly by: string | undefined
  /** Whether the same person saved it on another page. */
  readonly isOwn: boolean
}

export interface DraftNeeds {
  readonly fields: readonly Field[]
  /** The initial values. */
  readonly initial: Values
  /** The version that the form is based on; absent for something new. */
  readonly version?: number
  /** Sends the changed fields. Throws ApiError. */
  readonly save: (body: Record<string, Value | null>, version: number | undefined) => Promise<unknown>
  /** Reads the item again after a refusal, and shows it on the page; absent for something new. Throws ApiError. */
  readonly reload?: () => Promise<object>
  /** Restores the item, which someone archived, and returns it. Throws ApiError. */
  readonly restore?: () => Promise<object>
  /** The path at and below which the form stays open. */
  readonly within?: string
  /** The name under which the unsaved text is kept in this browser: the address of what the form changes or adds to. */
  readonly keptAs?: string
  /** Called after saving; the form stays busy until it is done. */
  readonly onSaved: () => unknown
  /** Called after the form has saved itself, which it does only if this is given: after a pause, and when it is left. */
  readonly onSelfSaved?: (() => unknown) | undefined
}

export type Draft = ReturnType<typeof useDraft>

/** The state of a form: its values, whether they are saved, and what prevents that. */
export function useDraft(needs: DraftNeeds) {
  const { fields, initial, version, save, reload, restore, within, keptAs, onSaved, onSelfSaved } = needs
  const [kept] = useState(() => (keptAs === undefined ? undefined : unsavedOf(keptOf(keptAs), fields, initial)))
  const [base, setBase] = useState(kept?.base ?? { values: initial, version })
  const [values, setValues] = useState(kept?.values ?? initial)
  const [busy, setBusy] = useState(false)
  const [refused, setRefused] = useState<RefusedSave>()
  const [conflict, setConflict] = useState<Conflict>()
  /** A conflict that the form met when it saved itself. The next save by the person shows it. */
  const [held, setHeld] = useState<Conflict>()
  const [isSelfSaving, setIsSelfSaving] = useState(false)
  /** The value of each field that is being typed, which `values` does not have yet. */
  const typing = useRef(new Map<string, () => Value>())
  const [isTyping, setIsTyping] = useState(false)
  const differs = (shown: Values, from: Values) => fields.some(({ name }) => !isSame(shown[name], from[name]))
  const isChanged = (shown: Values) => differs(shown, base.values)
  const isDirty = isTyping || isChanged(values)
  const isInRecord = useRouteLoaderData('record') !== undefined
  /** Values whose response was lost. They may be saved. */
  const lost = useRef<Values>(undefined)
  /** The save that the form began by itself, and what it knows when that ends: the page may have been rendered since. */
  const selfSave = useRef<Promise<void>>(undefined)
  const now = useRef({ base, latest, saveSelf })
  useEffect(() => {
    now.current = { base, latest, saveSelf }
  })
  const savesItself = onSelfSaved !== undefined
  const saveWhenLeft = useCallback(() => now.current.saveSelf(), [])
  const { settle, isLosing } = useUnsaved(isDirty, { within, save: savesItself ? saveWhenLeft : undefined })
  const keepSoon = useKeeping(keptAs, { current: () => (isDirty ? { values: latest(), base } : undefined), isLosing })
  const saveSoon = useSelfSaving(savesItself ? saveWhenLeft : undefined)

  async function send(next: Values, from: typeof base) {
    setBusy(true)
    setRefused(undefined)
    setHeld(undefined)
    try {
      const saved = await saveOn(next, from)
      setBase({ values: next, version: saved })
      settle()
      if (keptAs !== undefined) keep(keptAs, undefined)
      await onSaved()
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      if (thrown.status === 0 || thrown.status >= 500) lost.current = next
      const met = isSent(thrown.current) ? undefined : conflictOf(fields, thrown)
      if (met) setConflict(met)
      else setRefused(isInRecord ? await explained(thrown, reload) : { error: thrown })
    } finally {
      setBusy(false)
    }
  }

  /**
   * Saves without being asked, while the person goes on typing. A refusal that typing may end, and a lost response, are left to the
   * next save; others stop it until the person saves.
   */
  function saveSelf(): Promise<void> {
    if (selfSave.current) return selfSave.current
    const next = latest()
    if (busy || refused || held || conflict || base.version === undefined || !isChanged(next)) return Promise.resolve()
    setIsSelfSaving(true)
    selfSave.current = sendQuietly(next, base).finally(() => {
      selfSave.current = undefined
      setIsSelfSaving(false)
    })
    return selfSave.current
  }

  async function sendQuietly(next: Values, from: typeof base): Promise<void> {
    try {
      const saved = { values: next, version: await saveOn(next, from) }
      setBase(saved)
      now.current.base = saved
      if (!differs(now.current.latest(), next)) {
        settle()
        if (keptAs !== undefined) keep(keptAs, undefined)
      }
      await onSelfSaved?.()
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      if (thrown.status === 0 || thrown.status >= 500) lost.current = next
      else if (conflictOf(fields, thrown) && !isSent(thrown.current)) setHeld(conflictOf(fields, thrown))
      else if (stops.has(thrown.status)) setRefused({ ...(await explained(thrown, reload)), isSelfSave: true })
    }
  }

  /** What others changed before they archived the item is a conflict of the next save. */
  async function restoreItem(work: () => Promise<object>) {
    setBusy(true)
    try {
      const restored = await work()
      setRefused(undefined)
      if (!isChanged(valuesOf(fields, restored))) setBase({ ...base, version: versionIn(restored) ?? base.version })
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      setRefused({ error: thrown, fate: 'archived' })
    } finally {
      setBusy(false)
    }
  }

  /**
   * Saves, and returns the new version. A newer version is no conflict if it is equal or was saved by this form and its
   * response lost. Throws ApiError.
   */
  async function saveOn(next: Values, from: typeof base): Promise<number | undefined> {
    try {
      const body = requestOf(fields, next, from.version === undefined ? {} : from.values)
      return versionIn(await save(body, from.version)) ?? from.version
    } catch (thrown) {
      const met = thrown instanceof ApiError ? conflictOf(fields, thrown) : undefined
      const isThere = (sent: Values | undefined) =>
        met && sent && fields.every((field) => meansSame(field, sent[field.name], met.theirs[field.name]))
      if (isThere(next)) return met?.version
      if (!met || !isThere(lost.current)) throw thrown
      lost.current = undefined
      return saveOn(next, { values: met.theirs, version: met.version })
    }
  }

  /** The values with all that was typed. */
  function latest(): Values {
    return { ...values, ...Object.fromEntries([...typing.current].map(([name, read]) => [name, read()])) }
  }

  function typed(): Values {
    const all = latest()
    endTyping()
    return all
  }

  function endTyping() {
    typing.current.clear()
    setIsTyping(false)
  }

  return {
    fields,
    values,
    base: base.values,
    isDirty,
    /** Whether the form opened with text that an earlier page did not save, and nothing has been saved since. */
    isRestored: kept !== undefined && base === kept.base,
    busy,
    isSelfSaving,
    /** A conflict that stops the form from saving itself, until the person saves it and chooses. */
    held,
    error: refused?.error,
    fate: refused?.fate,
    /** Whether the refused save was the form's own: the focus stays where the person types. */
    isSelfSave: refused?.isSelfSave === true,
    /** Restores the item after someone archived it. */
    restore: restore && (() => void restoreItem(restore)),
    conflict,
    /** Ignored while saving, when it would be lost: a select cannot be made read-only. */
    set: (name: string, value: Value) => {
      if (busy) return
      typing.current.delete(name)
      setIsTyping(typing.current.size > 0)
      setValues((before) => ({ ...before, [name]: value }))
      saveSoon()
    },
    /**
     * Marks a field as changed whose value takes long to make. `read` makes it; `set` follows after a pause. The form counts as unsaved
     * when this returns: the next event may leave it.
     */
    defer: (name: string, read: () => Value) => {
      typing.current.set(name, read)
      flushSync(() => setIsTyping(true))
      keepSoon()
      saveSoon()
    },
    submit: async () => {
      if (busy) return
      const next = typed()
      setValues(next)
      setBusy(true)
      await selfSave.current
      const { base: from } = now.current
      if (differs(next, from.values) || from.version === undefined) return send(next, from)
      setBusy(false)
      onSaved()
    },
    /** Bases the form on the newer version, and saves the chosen values or shows them to be edited. */
    resolve: (chosen: Values, then: 'save' | 'edit') => {
      if (!conflict) return
      const from = { values: conflict.theirs, version: conflict.version }
      setBase(from)
      setValues(chosen)
      setConflict(undefined)
      if (then === 'save') void send(chosen, from)
    },
    /** The version that the form is based on. */
    version: base.version,
    /** Shows another version, in a form that stays open. */
    adopt: (shown: Values, from: number) => {
      endTyping()
      setBase({ values: shown, version: from })
      setValues(shown)
      setRefused(undefined)
      setHeld(undefined)
    },
    /** Marks the form as having nothing to save. */
    settle,
    /** Returns to the form. The next save has the same conflict. */
    postpone: () => setConflict(undefined),
  }
}

/** `bodyOf`, with an unclear amount as the refusal of its field. */
export function requestOf(fields: readonly Field[], next: Values, before: Values) {
  try {
    return bodyOf(fields, next, before)
  } catch (error) {
    if (!(error instanceof UnclearValue)) throw error
    throw new ApiError(422, { field: error.field, reason: error.message })
  }
}

/** Refusals that stay until someone acts: out of reach, archived, sent. */
const stops = new Set([403, 404, 409, 412])

/** What was kept, unless it was saved since: the page ended while that save was under way. */
function unsavedOf(kept: Kept | undefined, fields: readonly Field[], saved: Values): Kept | undefined {
  return kept && fields.every((field) => meansSame(field, kept.values[field.name], saved[field.name]))
    ? undefined
    : kept
}

function versionIn(saved: unknown): number | undefined {
  return typeof saved === 'object' && saved !== null && 'version' in saved ? Number(saved.version) : undefined
}

function conflictOf(fields: readonly Field[], { status, current }: ApiError): Conflict | undefined {
  if (status !== 412 || typeof current !== 'object' || current === null) return undefined
  const version = versionIn(current) ?? Number.NaN
  const { name: by, isOwn } = changerOf(current)
  return { theirs: valuesOf(fields, current), version, by, isOwn }
}
