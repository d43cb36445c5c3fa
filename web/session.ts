import { content, type Viewer } from './content.ts'
import { hasUnsaved } from './unsaved.ts'
import { answerIdentity } from './identity.ts'
import { forgetKept, keepAgain, stopKeeping } from './kept.ts'

/**
 * Tracks when the session expires, across all tabs of this browser. A page cannot read the cookie, so it estimates from the
 * last response; the server decides.
 */
export interface SessionState {
  /** `warning`: it ends soon. `ended`: the page is covered until the person has signed in again. */
  readonly phase: 'fine' | 'warning' | 'ended'
  /** When the session expires, by the local clock. */
  readonly endsAt: number
  /** Whether activity extends the session. */
  readonly canBeLonger: boolean
  /** Whether another tab was waiting for this sign-in. */
  readonly resumedElsewhere: boolean
  /** The person's role at their last sign-in; undefined if nobody is signed in. A role change ends every session. */
  readonly role: Viewer['person']['role'] | undefined
}

type Message =
  | { readonly kind: 'used' }
  | { readonly kind: 'signed-out' }
  | { readonly kind: 'resumed' }
  | {
      readonly kind: 'signed-in'
      readonly person: string
      readonly role: Viewer['person']['role']
      readonly idleEndsIn: number
      readonly endsIn: number
    }

const { viewer } = content
const channel = new BroadcastChannel('tollgate-session')
const listeners = new Set<() => void>()

let idleLength = viewer?.idle_ends_in ?? 0
let idleEnd = Date.now() + idleLength
let absoluteEnd = Date.now() + (viewer?.ends_in ?? 0)
let lastUse = Date.now()
let waiting: PromiseWithResolvers<void> | undefined
let state: SessionState = {
  phase: 'fine',
  endsAt: idleEnd,
  canBeLonger: true,
  resumedElsewhere: false,
  role: viewer?.person.role,
}

/** ms before the end at which people are warned: two minutes, or a third of a shorter session. */
const warningTime = Math.min(120_000, idleLength / 3)

export function sessionState(): SessionState {
  return state
}

export function watchSession(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Restarts the idle time after a response. */
export function sessionUsed(): void {
  const tell = Date.now() - lastUse > 1000
  used()
  if (tell) send({ kind: 'used' })
}

/** Covers the page after a 401 response. Resolves when the same person has signed in again. */
export function sessionEnded(): Promise<void> {
  waiting ??= Promise.withResolvers<void>()
  update()
  return waiting.promise
}

/** Hides the content in all tabs after signing out. */
export function tellSignedOut(): void {
  send({ kind: 'signed-out' })
}

/** ms since the last response. */
export function idleTime(): number {
  return Date.now() - lastUse
}

/** The idle timeout, in ms. */
export function idleLimit(): number {
  return idleLength
}

function used(): void {
  lastUse = Date.now()
  idleEnd = lastUse + idleLength
  update()
}

function update(changes: Partial<SessionState> = {}): void {
  const endsAt = Math.min(idleEnd, absoluteEnd)
  const left = endsAt - Date.now()
  const phase = waiting ? 'ended' : left <= warningTime ? 'warning' : 'fine'
  const next: SessionState = { ...state, endsAt, phase, canBeLonger: idleEnd < absoluteEnd, ...changes }
  if (JSON.stringify(next) === JSON.stringify(state)) return
  state = next
  for (const listener of listeners) listener()
}

function send(message: Message): void {
  channel.postMessage(message)
}

channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (!viewer) return
  switch (data.kind) {
    case 'used':
      return used()
    case 'resumed':
      return update({ resumedElsewhere: true })
    case 'signed-out':
      forgetKept()
      return leave()
    case 'signed-in':
      return signedInElsewhere(data)
  }
})

/** Hides the page. Unsaved text stays behind the cover in case the same person signs in again. */
function leave(): void {
  if (hasUnsaved()) void sessionEnded()
  else location.reload()
}

function signedInElsewhere({ person, role, idleEndsIn, endsIn }: Extract<Message, { kind: 'signed-in' }>): void {
  // This page belongs to another person.
  if (person !== viewer?.person.id) {
    stopKeeping()
    return leave()
  }
  void keepAgain()
  idleLength = idleEndsIn
  absoluteEnd = Date.now() + endsIn
  answerIdentity(true)
  const resumed = waiting
  waiting = undefined
  update({ role })
  used()
  if (!resumed) return
  resumed.resolve()
  send({ kind: 'resumed' })
}

if (viewer) {
  send({
    kind: 'signed-in',
    person: viewer.person.id,
    role: viewer.person.role,
    idleEndsIn: viewer.idle_ends_in,
    endsIn: viewer.ends_in,
  })
  setInterval(() => update(), 1000)
}
