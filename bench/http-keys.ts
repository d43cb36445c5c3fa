import { costRows } from './http-rows.ts'
import type { MeasuredLoad } from './measured-load.ts'
import type { Row } from './row.ts'

const subjects = { plain: 'keys without limits', limited: 'keys with budgets and limits' } as const

export type KeySubject = keyof typeof subjects

const connections = 128

/** Plays a load with the keys of one subject. */
export type PlayKeys = (subject: KeySubject, load: { connections: number; seconds: number }) => Promise<MeasuredLoad>

/**
 * Requests/s and processor time with keys that have a daily and a monthly budget and limits of their own, none of which the load
 * reaches, against keys of accounts where no key has any. Alternates, and starts each round with the other subject.
 */
export async function measureKeys(
  play: PlayKeys,
  {
    rounds,
    seconds,
  }: { readonly rounds: number; readonly seconds: { readonly warmUp: number; readonly round: number } },
): Promise<Row[]> {
  const loads: Record<KeySubject, MeasuredLoad[]> = { plain: [], limited: [] }
  for (const subject of ['plain', 'limited'] as const) await play(subject, { connections, seconds: seconds.warmUp })
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? (['plain', 'limited'] as const) : (['limited', 'plain'] as const)
    for (const subject of order) loads[subject].push(await play(subject, { connections, seconds: seconds.round }))
  }
  return keyRows(loads)
}

function keyRows(loads: Readonly<Record<KeySubject, readonly MeasuredLoad[]>>): Row[] {
  const at = `at ${connections} connections`
  const rates = (subject: KeySubject): number[] => loads[subject].map(({ perSecond }) => perSecond)
  const ratios = rates('limited').map((rate, round) => rate / (rates('plain')[round] ?? Number.NaN))
  return [
    ...(['plain', 'limited'] as const).flatMap((subject) => [
      { name: `${subjects[subject]}: ${at}`, unit: 'requests/s', samples: rates(subject) },
      ...costRows(`${subjects[subject]} ${at}`, loads[subject]),
    ]),
    { name: `${subjects.limited} / without: ${at}`, unit: '×', samples: ratios, goal: { atLeast: 0.95 } },
  ]
}
