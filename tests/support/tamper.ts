import type { Database } from '../../src/platform/database/database.ts'
import { createSealer } from '../../src/platform/seals/sealer.ts'
import { asSuperuser } from './superuser.ts'
import { log } from './tills.ts'
import { until } from './until.ts'

/** Changes the database as a superuser could, without triggers. */
export async function tamper(database: Database, statements: string): Promise<void> {
  await asSuperuser(database, async (tx) => {
    await tx.rows('set local session_replication_role = replica')
    await tx.rows(statements)
  })
}

/** Seals all existing rows. */
export async function sealAll(database: Database): Promise<void> {
  const sealer = createSealer({ database, log })
  const unsealed = () =>
    database.rows<{ chain: string; last: bigint }>('select chain, last from seal_horizon() where last > sealed')
  const goals = await unsealed()
  await until(async () => {
    await sealer.seal()
    const left = await unsealed()
    return goals.every(({ chain, last }) => !left.some((each) => each.chain === chain && each.last <= last))
  })
}
