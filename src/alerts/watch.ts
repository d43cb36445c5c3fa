import * as store from './store.ts'
import type { Logger } from 'pino'
import { shownBatchIds } from '../batches/ids.ts'
import { formatMoney } from '../billing/prices/money.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Database } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { repeat } from '../platform/flow/repeat.ts'
import { createFinder, type FindAddresses } from '../platform/network/networks.ts'
import type { AlertAttempt, DueAlert, EndedBatch } from './rule.ts'
import { secretContext } from './alerts.ts'
import { postWebhook } from './webhook.ts'

interface WatchNeeds {
  readonly database: Database
  readonly log: Logger
  /** Undefined if no mail server is configured. */
  readonly mailer: Mailer | undefined
  readonly encryption: Encryption
  readonly currency: string
  readonly allowedNetworks: readonly string[]
  /** How the addresses of a host are found. Default: the system's way. */
  readonly find?: FindAddresses
  /** Polling interval, and delay before the second attempt, in ms. Default 2000 and 5000. */
  readonly pace?: { readonly look: number; readonly firstPause: number }
}

const mostAtOnce = 5
const hour = 3_600_000
/** In ms. A webhook is tried for a day. */
const longest = 24 * hour

/** Starts looking for accounts and budgets that have reached a share, and sending alerts. Any number of instances may do this. */
export function startAlerts(needs: WatchNeeds): { close(): Promise<void> } {
  const { database, log, allowedNetworks, pace = { look: 2000, firstPause: 5000 } } = needs
  const find = createFinder(allowedNetworks, needs.find)
  async function work(): Promise<void> {
    await store.addReached(database)
    for (;;) {
      const due = await store.takeDue(database, mostAtOnce)
      if (due.length === 0 || stopped) return
      await Promise.all(due.map((alert) => send({ ...needs, find, firstPause: pace.firstPause }, alert)))
    }
  }
  let stopped = false
  const looking = repeat({ name: 'alerts', pause: pace.look, work, log })
  return Object.freeze({
    async close() {
      stopped = true
      await looking.stop()
    },
  })
}

interface SendNeeds extends WatchNeeds {
  readonly find: FindAddresses
  readonly firstPause: number
}

async function send(needs: SendNeeds, alert: DueAlert): Promise<void> {
  if (alert.email === null) return sendWebhook(needs, alert)
  return sendMail(needs, alert, alert.email)
}

/** The queue of mail tries for days, so this is done once the mail is in it. */
async function sendMail({ database, mailer, currency, log }: SendNeeds, alert: DueAlert, to: string): Promise<void> {
  const { id, accountName: account, accountId, share, budget } = alert
  const values = { account, accountId, share, ...(budget !== null && { budget }), ...amountsOf(alert), currency }
  await database.transaction(async (tx) => {
    const tried: Tried = mailer ? { outcome: 'queued', error: null } : { outcome: 'given_up', error: 'no_mail_server' }
    const isOurs = await store.finishTry(tx, id, tried, 0)
    if (isOurs) await mailer?.send(tx, { to, template: 'account_share', values })
  })
  log.info({ alert: id, account: accountId, share }, 'alert: mail')
}

async function sendWebhook(needs: SendNeeds, alert: DueAlert): Promise<void> {
  const { database, log, firstPause } = needs
  const { id, accountId, share, batch, tries } = alert
  const error = await tryWebhook(needs, alert)
  const isLast = Date.now() - alert.createdAt.getTime() >= longest
  const outcome = error === null ? 'sent' : isLast ? 'given_up' : 'failed'
  const pause = Math.min(hour, firstPause * 2 ** Math.min(tries - 1, 20))
  await database.transaction((tx) => store.finishTry(tx, id, { outcome, error }, pause))
  log[error === null ? 'info' : 'warn'](
    { alert: id, account: accountId, share, ...(batch && { batch: batch.id }), outcome, reason: error },
    'alert: webhook',
  )
}

type Tried = Pick<AlertAttempt, 'outcome' | 'error'>

/** Null, or why it failed. */
async function tryWebhook({ encryption, currency, find }: SendNeeds, alert: DueAlert): Promise<string | null> {
  const { id, webhook, secret: sealed } = alert
  const secret = sealed === null ? undefined : encryption.decrypt(sealed, secretContext(alert.ruleId))
  if (webhook === null || secret === undefined) return 'encryption_key_changed'
  return (await postWebhook(webhook, { id, body: bodyOf(alert, currency), secret }, find)) ?? null
}

function bodyOf(alert: DueAlert, currency: string): string {
  const { id, createdAt, accountId, accountName, batch, budget, budgetId, share } = alert
  const sharesReached = {
    ...(budget !== null && { budget: { id: budgetId, name: budget } }),
    share,
    ...amountsOf(alert),
    currency,
  }
  return JSON.stringify({
    id,
    type: typeOf(alert),
    created_at: createdAt.toISOString(),
    account: { id: accountId, name: accountName },
    ...(batch === null ? sharesReached : { batch: presentBatch(batch) }),
  })
}

const presentBatch = ({ id, dialect, status, lines, succeeded, failed }: EndedBatch) => ({
  id: shownBatchIds[dialect](id),
  dialect,
  status,
  lines,
  succeeded,
  failed,
})

function typeOf({ share, budget, batch }: DueAlert): string {
  if (batch !== null) return 'batch.ended'
  if (share === null) return 'test'
  return budget === null ? 'account.share_reached' : 'budget.share_reached'
}

const amountsOf = ({ used, of }: DueAlert) => ({ used: formatMoney(used), of: formatMoney(of) })
