import { join } from 'node:path'
import { costRows } from './http-rows.ts'
import { startLoadGenerator } from './load-process.ts'
import { measureLoad, type MeasuredLoad } from './measured-load.ts'
import { startTollgate, startVendor, upstreamUrl } from './peers.ts'
import type { Row } from './row.ts'
import { freePort, type ServerProcess } from './server-process.ts'
import { install, proveBooks } from './tollgate.ts'

const subjects = {
  plain: 'keys without limits',
  limited: 'keys with budgets and limits',
  budget: 'keys with a shared budget',
} as const
type Subject = keyof typeof subjects
const subjectNames = ['plain', 'limited', 'budget'] as const

const accounts = 50
const connections = 128
/** Two kinds of keys differ by a few per cent, which only many rounds show. Each round begins with keys that were idle. */
const rounds = 40
const seconds = { warmUp: 5, round: 2 }

/**
 * Requests/s and processor time with keys that have a daily and a monthly budget and limits of their own, and with keys that have a shared
 * budget, none of which the load reaches, against keys of accounts where no key has any. The order changes from round to round. Throws
 * if a response is wrong, if the ledger does not match the replies, or if `verify` finds a fault.
 */
export async function benchKeys(): Promise<Row[]> {
  const folder = join(import.meta.dirname, 'data/keys')
  const vendor = await freePort()
  const upstream = upstreamUrl(vendor)
  const installation = await install(folder, {
    upstream,
    accounts,
    limitedAccounts: accounts,
    budgetAccounts: accounts,
  })
  const keys = { plain: installation.keys, limited: installation.limitedKeys, budget: installation.budgetKeys }
  const started: ServerProcess[] = []
  const generator = startLoadGenerator()
  try {
    await startVendor({ folder, started }, vendor)
    const { process, target } = await startTollgate({ folder, started }, await freePort(), installation)
    const database = await installation.databasePid()
    // One request recorded the expected response.
    let replies = 1
    const play = async (subject: Subject, length: number): Promise<MeasuredLoad> => {
      const peer = { process, target: { ...target, keys: keys[subject] } }
      const load = { name: `tollgate, ${subjects[subject]}`, connections, seconds: length, database, silent: true }
      const played = await measureLoad(generator, peer, load)
      replies += played.responses
      return played
    }
    const loads = await playRounds(play)
    await process.stop()
    await proveBooks(installation, replies)
    return rowsOf(loads)
  } finally {
    generator.close()
    await Promise.all(started.map((process) => process.stop()))
  }
}

type Loads = Readonly<Record<Subject, readonly MeasuredLoad[]>>

async function playRounds(play: (subject: Subject, seconds: number) => Promise<MeasuredLoad>): Promise<Loads> {
  const loads: Record<Subject, MeasuredLoad[]> = { plain: [], limited: [], budget: [] }
  for (const subject of subjectNames) await play(subject, seconds.warmUp)
  for (let round = 0; round < rounds; round++) {
    const first = round % subjectNames.length
    for (const subject of [...subjectNames.slice(first), ...subjectNames.slice(0, first)]) {
      loads[subject].push(await play(subject, seconds.round))
    }
    if (round % 10 === 9) console.log(`  ${round + 1} of ${rounds} rounds`)
  }
  return loads
}

function rowsOf(loads: Loads): Row[] {
  const at = `at ${connections} connections`
  const rates = (subject: Subject): number[] => loads[subject].map(({ perSecond }) => perSecond)
  const costs = (subject: Subject): number[] =>
    loads[subject].map(({ cost }) => (cost.server ?? Number.NaN) + (cost.database ?? Number.NaN))
  return subjectNames.flatMap((subject) => {
    const own = [
      { name: `${subjects[subject]}: ${at}`, unit: 'requests/s', samples: rates(subject) },
      ...costRows(`${subjects[subject]} ${at}`, loads[subject]),
    ]
    if (subject === 'plain') return own
    const name = `${subjects[subject]} / without: ${at}`
    return [
      ...own,
      { name, unit: '×', samples: ratios(rates(subject), rates('plain')), goal: { atLeast: 0.95 } },
      {
        name: `${name}, processor time`,
        unit: '×',
        samples: ratios(costs(subject), costs('plain')),
        goal: { atMost: 1.05 },
      },
    ]
  })
}

const ratios = (values: readonly number[], others: readonly number[]): number[] =>
  values.map((value, round) => value / (others[round] ?? Number.NaN))
