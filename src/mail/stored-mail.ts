import type { Encryption } from '../platform/encryption/encryption.ts'
import { isTemplate, type MailContent } from './catalogue.ts'
import type { MailMessage } from './mailer.ts'

/** A mail as it waits in the queue. It is encrypted there, because it has tokens and addresses. */
export type StoredMail = MailContent & Pick<MailMessage, 'to' | 'cc' | 'onlyFor'> & { readonly until?: number }

export function sealMail(encryption: Encryption, id: string, { until, ...mail }: MailMessage): Buffer {
  const stored = { ...mail, ...(until && { until: until.getTime() }) }
  return encryption.encrypt(JSON.stringify(stored), contextOf(id))
}

/** Undefined if the mail was encrypted with another key, or has a template that this version does not know. */
export function unsealMail(
  encryption: Encryption,
  { id, sealed }: { readonly id: string; readonly sealed: Buffer },
): StoredMail | undefined {
  const text = encryption.decrypt(sealed, contextOf(id))
  const stored: unknown = text === undefined ? undefined : JSON.parse(text)
  return isStored(stored) ? stored : undefined
}

/** Only this program encrypts mail, so its template settles the rest. */
function isStored(value: unknown): value is StoredMail {
  return typeof value === 'object' && value !== null && 'template' in value && isTemplate(value.template)
}

/** Binds an encrypted mail to its job. */
const contextOf = (id: string): string => `mail ${id}`
