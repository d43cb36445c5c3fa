import { content } from './content.ts'
import type { Values } from './fields.ts'
import { believed } from './wire.ts'

/** The unsaved text of a form, kept in this browser. */
export interface Kept {
  readonly values: Values
  /** The values and the version that the form is based on. */
  readonly base: { readonly values: Values; readonly version: number | undefined }
}

const store = 'forms'
/** ms that a page waits for the browser's storage, which can hang. */
const patience = 1000
const person = content.viewer?.person.id
const read = new Map<string, Kept>()
let database: IDBDatabase | undefined
/** Whether the person has signed out, or another one has signed in: a form that is still open behind the cover keeps nothing. */
let isSignedOut = false

const keyOf = (form: string): string => `${person} ${form}`

/**
 * Reads what is kept for this person, before the first form opens, and deletes what is kept for others. A browser without storage
 * keeps nothing. IndexedDB, because what localStorage takes reaches the disk seconds later: a crash would lose it.
 */
export async function readKept(): Promise<void> {
  if (person === undefined) return
  const late = new Promise((resolve) => setTimeout(resolve, patience))
  await Promise.race([late, readAll().catch(() => undefined)])
}

async function readAll(): Promise<void> {
  database = await opened()
  const forms = database.transaction(store, 'readwrite').objectStore(store)
  const [keys, values] = await Promise.all([done(forms.getAllKeys()), done<unknown>(forms.getAll())])
  const all = believed<Kept[]>(values)
  for (const [index, key] of keys.map(String).entries()) {
    const kept = all[index]
    if (!key.startsWith(`${person} `)) forms.delete(key)
    else if (kept) read.set(key, kept)
  }
}

/** What is kept of a form. */
export function keptOf(form: string): Kept | undefined {
  return read.get(keyOf(form))
}

/** Keeps the unsaved text of a form. Undefined: there is none. */
export function keep(form: string, kept: Kept | undefined): void {
  const key = keyOf(form)
  if (kept === undefined && !read.has(key)) return
  if (isSignedOut) return
  if (kept === undefined) {
    read.delete(key)
    write((forms) => forms.delete(key))
  } else {
    read.set(key, kept)
    write((forms) => forms.put(kept, key))
  }
}

/** Keeps nothing more: another person has signed in, whose page deletes what is kept. */
export function stopKeeping(): void {
  isSignedOut = true
}

/** Deletes everything that is kept: the person has signed out. The response to that does the same, but over HTTPS only. */
export function forgetKept(): void {
  stopKeeping()
  read.clear()
  write((forms) => forms.clear())
}

/** Keeps text again: the same person has signed in again. */
export async function keepAgain(): Promise<void> {
  isSignedOut = false
  database = await opened().catch(() => undefined)
}

function opened(): Promise<IDBDatabase> {
  const request = indexedDB.open('tollgate', 1)
  request.addEventListener('upgradeneeded', () => request.result.createObjectStore(store))
  return done(request)
}

/** What cannot be written is not kept, such as after the browser has deleted the storage. */
function write(work: (forms: IDBObjectStore) => unknown): void {
  try {
    if (database) work(database.transaction(store, 'readwrite').objectStore(store))
  } catch {
    database = undefined
  }
}

/** What is read of an IDBRequest. */
interface Asked<Result> extends EventTarget {
  readonly result: Result
  readonly error: DOMException | null
}

function done<Result>(request: Asked<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('the browser stores nothing')))
  })
}
