import { readEmail } from '../people/email.ts'
import { Problem } from '../platform/problems.ts'
import { ForbiddenNetwork, type FindAddresses } from '../platform/network/networks.ts'

/** Where alerts about an account go, and when they are sent. */
export interface AlertRule {
  readonly id: string
  readonly accountId: string
  /** In per cent, ascending. */
  readonly shares: readonly number[]
  /** Whether the end of each batch is reported. */
  readonly batches: boolean
  /** Either this or `webhook`. */
  readonly email: string | null
  readonly webhook: string | null
  readonly createdAt: Date
}

/** When alerts of a rule are sent. */
export type AlertTerms = Pick<AlertRule, 'shares' | 'batches'>

/** A batch that has ended, as it was then. */
export interface EndedBatch {
  readonly id: string
  readonly dialect: 'openai' | 'anthropic'
  readonly status: string
  readonly lines: number
  readonly succeeded: number
  readonly failed: number
}

/** An attempt to send an alert. */
export interface AlertAttempt {
  readonly id: string
  readonly at: Date
  readonly alertId: string
  readonly email: string | null
  readonly webhook: string | null
  /** In per cent; null for the end of a batch and for a test. */
  readonly share: number | null
  /** The name of the budget that it is about. */
  readonly budget: string | null
  /** The batch whose end it reports. */
  readonly batch: EndedBatch | null
  /** `queued`: the mail is in the queue of mail. */
  readonly outcome: 'queued' | 'sent' | 'failed' | 'given_up'
  readonly error: string | null
}

/** An alert to send. Amounts are in 10⁻¹² of the currency unit. */
export interface DueAlert {
  readonly id: string
  readonly ruleId: string
  readonly accountId: string
  readonly accountName: string
  /** In per cent; null for the end of a batch and for a test. */
  readonly share: number | null
  /** The budget that it is about. */
  readonly budgetId: string | null
  readonly budget: string | null
  /** The batch whose end it reports. */
  readonly batch: EndedBatch | null
  readonly used: bigint
  readonly of: bigint
  readonly createdAt: Date
  /** Including this attempt. */
  readonly tries: number
  readonly email: string | null
  readonly webhook: string | null
  readonly secret: Buffer | null
}

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

/** Throws Problem `invalid_field`, with the name of the field. */
export function checkTerms({ shares, batches }: AlertTerms, { webhook }: AlertTarget): void {
  if (batches && webhook === null) {
    throw new Problem('invalid_field', 'Only a webhook can report the end of batches.', { field: 'batches' })
  }
  if (shares.length === 0 && !batches) {
    throw new Problem('invalid_field', 'Give at least one percentage, or have the end of batches reported.', {
      field: 'shares',
    })
  }
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
