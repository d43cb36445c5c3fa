import { ApiError } from '../api.ts'
import { content } from '../content.ts'
import { believed } from '../wire.ts'

/** What happened to an item while a form was open, so that the form cannot be saved. */
export type Fate = 'archived' | 'sent'

/** Why a form was not saved. */
export interface RefusedSave {
  readonly error: ApiError
  readonly fate?: Fate
  /** Whether the form saved itself, while the person typed on. */
  readonly isSelfSave?: true
}

/** Who changed an item last. */
interface Changer {
  readonly name: string | undefined
  /** Whether it was this person, on another page. */
  readonly isOwn: boolean
}

export function changerOf(item: object): Changer {
  const person = 'updated_by' in item ? believed<{ id: string; name: string } | null>(item.updated_by) : null
  return { name: person?.name, isOwn: person !== null && person.id === content.viewer?.person.id }
}

/** Whether the item is a letter that was sent, which cannot be changed. */
export function isSent(item: unknown): item is object {
  return typeof item === 'object' && item !== null && 'status' in item && item.status === 'sent'
}

/** The reason why a save in a client's record failed. `reload` reads the item again: without it, it counts as out of reach. */
export async function explained(error: ApiError, reload: (() => Promise<unknown>) | undefined): Promise<RefusedSave> {
  if (!isLost(error) && error.status !== 409 && error.status !== 412) return { error }
  const item = await reload?.().catch(() => undefined)
  if (isArchived(item)) return { fate: 'archived', error: error.status === 409 ? error : archived() }
  if (isSent(item)) return { fate: 'sent', error: sent(changerOf(item)) }
  return { error: isLost(error) ? handedOver(error) : error }
}

function isArchived(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'archived_at' in item && item.archived_at !== null
}

/** Whether the item is out of the person's reach, as far as the response says. */
function isLost({ status, refusal }: ApiError): boolean {
  return (refusal.code === 'forbidden' && refusal.field === undefined) || status === 404
}

function archived(): ApiError {
  return new ApiError(409, { code: 'conflict', reason: 'It was archived while you were writing: restore it first.' })
}

function sent({ name, isOwn }: Changer): ApiError {
  const what = isOwn
    ? 'You sent this letter on another page while you were writing here'
    : `${name ?? 'Someone else'} sent this letter while you were writing`
  const reason = `${what}, so it cannot be changed. Your text is not saved yet: start a new version with it.`
  return new ApiError(409, { code: 'conflict', reason })
}

function handedOver({ status, refusal }: ApiError): ApiError {
  const reason =
    'This record was assigned to someone else or removed while you were writing, so nothing was saved. Copy your text ' +
    'before you leave this page. A partner can give you access again.'
  return new ApiError(status, { ...refusal, reason })
}
