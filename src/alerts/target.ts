import { readEmail } from '../people/email.ts'
import { Problem } from '../platform/problems.ts'
import { ForbiddenNetwork, type FindAddresses } from './networks.ts'
import type { AlertRule } from './rule.ts'

interface Given {
  readonly email?: string | undefined
  readonly webhook?: string | undefined
}

/** Where an alert goes: one of both is null. */
export type AlertTarget = Pick<AlertRule, 'email' | 'webhook'>

/** For the audit log: without the path of a webhook, which may be a secret. */
export function describeTarget({ email, webhook }: AlertTarget): Record<string, string> {
  return { ...(email !== null && { email }), ...(webhook !== null && { host: new URL(webhook).host }) }
}

/** Throws Problem `invalid_field`. */
export async function checkTarget(
  { email, webhook }: Given,
  hasMail: boolean,
  find: FindAddresses,
): Promise<AlertTarget> {
  if (webhook !== undefined && email === undefined) {
    return { email: null, webhook: await checkWebhook(webhook, find) }
  }
  if (email === undefined || webhook !== undefined) {
    throw new Problem('invalid_field', 'Give either an email address or a webhook.', { field: 'email' })
  }
  const address = readEmail(email)?.address
  if (address === undefined) {
    throw new Problem('invalid_field', 'Give an email address such as anna@example.com.', { field: 'email' })
  }
  if (!hasMail) {
    throw new Problem('invalid_field', 'No mail server is configured: set `mail`, or use a webhook.', {
      field: 'email',
    })
  }
  return { email: address, webhook: null }
}

/** A name that is not found may be found later. A webhook is checked again whenever it is called. */
async function checkWebhook(text: string, find: FindAddresses): Promise<string> {
  const field = 'webhook'
  const url = URL.parse(text)
  const isLocal = url !== null && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (
    url === null ||
    url.username + url.password !== '' ||
    !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal))
  ) {
    throw new Problem('invalid_field', 'Give an address that starts with https:// and has no user name.', { field })
  }
  await find(url.hostname).catch((error: unknown) => {
    if (!(error instanceof ForbiddenNetwork)) return
    throw new Problem(
      'invalid_field',
      'This address is not public. An operator can allow its network with alerts.allowed_networks.',
      { field },
    )
  })
  return url.href
}
