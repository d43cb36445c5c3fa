import { createHash } from 'node:crypto'
import { formatMoney } from '../billing/prices/money.ts'
import { Problem } from '../platform/problems.ts'
import type { Account } from './account.ts'

/** A number that identifies the settings of an account. Its money is no part of them: a charge makes no edit stale. */
export function settingsVersion({
  name,
  own,
  requestsPerMinute,
  tokensPerMinute,
  monthlyLimit,
  billing,
}: Account): number {
  const limit = monthlyLimit === null ? null : formatMoney(monthlyLimit)
  const settings = JSON.stringify([name, own, requestsPerMinute, tokensPerMinute, limit, billing])
  return createHash('sha256').update(settings).digest().readUIntBE(0, 6)
}

/**
 * Checks If-Match (RFC 9110 section 13.1.1). It accepts `*`, and the weak tag that compressing proxies make of a strong one.
 * Throws Problem `precondition_required` without the header, `invalid_field` for a tag that the service never sends, and
 * `stale_version` with `current` if it names other settings than those of now.
 */
export function checkSettings(header: string | undefined, current: { readonly version: number }): void {
  if (header === undefined) {
    throw new Problem('precondition_required', 'Send If-Match with the ETag that the account had when you read it.')
  }
  if (header.trim() === '*') return
  const tags = header.split(',').flatMap((tag) => tag.trim() || [])
  if (tags.length === 0 || !tags.every((tag) => /^(?:W\/)?"\d{1,15}"$/.test(tag))) {
    throw new Problem('invalid_field', 'The header If-Match must be the ETag of the account: digits in quotes.', {
      field: 'If-Match',
    })
  }
  if (tags.some((tag) => tag.replace('W/', '') === `"${current.version}"`)) return
  throw new Problem(
    'stale_version',
    'This account has changed since you read it. Compare your change with the current settings, then send it again.',
    { current },
  )
}
