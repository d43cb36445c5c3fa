import type { Logger } from 'pino'
import type { Database } from '../database/database.ts'
import { codeOf } from '../database/failure.ts'
import { formatSeal } from './seal-line.ts'
import { addSeal, readHorizons, type Horizon } from './store.ts'

export interface SealerNeeds {
  readonly database: Database
  readonly log: Logger
}

/** `add_seal()` found that the last seals were removed or changed. */
const chainBroken = 'TG004'

/**
 * Seals the rows of every append-only table. Every instance can run a sealer: the database lets one seal at a time. Each
 * seal is also logged. A log that is kept elsewhere proves that the chain was not rebuilt.
 */
export function createSealer({ database, log }: SealerNeeds) {
  let waiting: { readonly mark: bigint; readonly horizons: readonly Horizon[] } | undefined
  const broken = new Set<string>()

  async function sealUpTo({ chain, last }: Horizon): Promise<void> {
    for (;;) {
      const seal = await addSeal(database, chain, last)
      if (seal === undefined) return
      log.info({ seal: formatSeal(seal), rows: seal.rows.toString() }, 'rows sealed')
      if (seal.upto >= last) return
    }
  }

  async function sealUnlessBroken(horizon: Horizon): Promise<void> {
    try {
      await sealUpTo(horizon)
    } catch (error) {
      if (codeOf(error) !== chainBroken) throw error
      if (!broken.has(horizon.chain))
        log.error({ chain: horizon.chain }, 'seals were tampered with: run tollgate verify')
      broken.add(horizon.chain)
    }
  }

  return {
    /**
     * Seals the rows that the previous call found, once every transaction of that time has ended: after that, no row with a
     * smaller number can appear. Then looks for more.
     */
    async seal(this: void): Promise<void> {
      const horizons = await readHorizons(database)
      const mark = BigInt(horizons.find((each) => each.mark !== null)?.mark ?? -1n)
      const oldest = BigInt(horizons[0]?.oldest ?? 0n)
      if (waiting !== undefined && oldest > waiting.mark) {
        for (const horizon of waiting.horizons) await sealUnlessBroken(horizon)
        waiting = undefined
      }
      // A database restored into another cluster starts again at low transaction ids.
      if (waiting !== undefined && mark < waiting.mark) waiting = undefined
      if (mark >= 0n) waiting ??= { mark, horizons: horizons.filter((each) => each.mark !== null) }
    },
  }
}
