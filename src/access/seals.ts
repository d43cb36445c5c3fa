import type { Logger } from 'pino'
import type { Database } from '../platform/database/database.ts'

interface Horizon {
  /** The last row that is there. */
  readonly last: bigint
  /** The first transaction that had not begun then, … */
  readonly next: string
  /** … and the oldest that was not over. */
  readonly oldest: string
}

/**
 * Chains the rows of the audit log together: each seal is a SHA-256 over the seal before it and the rows since. A row
 * is sealed once no row with a lower number can appear any more: a transaction takes its id before it draws a number,
 * so all lower ones are there when the transactions of that moment are over.
 */
export function createSealer({ database, log }: { database: Database; log: Logger }) {
  let waiting: Horizon | undefined

  return {
    /** Seals what is certain, and looks how far the next call can go. */
    async seal(this: void): Promise<void> {
      const [now] = await database.rows<Horizon>('select * from audit_horizon()')
      if (now === undefined) return
      if (waiting !== undefined && BigInt(now.oldest) >= BigInt(waiting.next)) {
        await sealUpTo(waiting.last)
        waiting = undefined
      }
      waiting ??= now
    },
  }

  async function sealUpTo(last: bigint): Promise<void> {
    for (;;) {
      const [seal] = await database.rows<{ number: bigint; upto: bigint; hash: string }>(
        `select number, upto, encode(hash, 'hex') as hash from seal_audit($1)`,
        [last],
      )
      if (seal === undefined) return
      // The log goes elsewhere: whoever keeps it can tell a chain that was made anew from this one.
      log.info({ seal: seal.number.toString(), upto: seal.upto.toString(), hash: seal.hash }, 'audit log sealed')
      if (seal.upto >= last) return
    }
  }
}
