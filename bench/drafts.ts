import { join } from 'node:path'
import { startDraftsModel, type DraftsModel } from './drafts-model.ts'
import { openPagesStage, type PagesStage } from './pages-stage.ts'
import type { Row } from './row.ts'

const rounds = 5
const perRound = 40
/** People who draft at the same time. */
const authors = 4

/**
 * The time from the first token of a model to the first text of the letter in the browser, and from the request to the
 * model. Throws if a letter is not kept or has no charge.
 */
export async function benchDrafts(): Promise<Row[]> {
  const model = await startDraftsModel()
  const settings = 'drafting: { account: "Account 1", model: fast }\n'
  try {
    const stage = await openPagesStage(join(import.meta.dirname, 'data/drafts'), { upstream: model.url, settings })
    try {
      return await measure(stage, model)
    } finally {
      await stage.close()
    }
  } finally {
    model.close()
  }
}

/** In ms. */
interface Times {
  readonly toModel: number
  readonly toText: number
}

async function measure(stage: PagesStage, model: DraftsModel): Promise<Row[]> {
  await stage.database.rows(`update account set own = true where name = 'Account 1'`)
  const drafts = await prepare(stage)
  const played: Times[][] = []
  for (let round = 0; round <= rounds; round++) {
    const times = await play(stage, model, drafts, `Round ${round}`)
    // The first warms up.
    if (round > 0) played.push(times)
  }
  await prove(stage, (rounds + 1) * perRound)
  const row = (name: string, of: keyof Times, share: number) => ({
    name: `${name}: p${share * 100}`,
    unit: 'ms',
    samples: played.map((times) => quantile(times, of, share)),
  })
  return [
    row('draft, from the request to the model', 'toModel', 0.95),
    row("draft, from the model's first token to the first text", 'toText', 0.5),
    { ...row("draft, from the model's first token to the first text", 'toText', 0.95), goal: { atMost: 50 } },
  ]
}

/** The path and the body of the drafts of one client per author. */
type Target = { readonly path: string; readonly note: string }

async function prepare(stage: PagesStage): Promise<Target[]> {
  const clients = await stage.database.rows<{ id: string }>(`select id from client order by id limit ${authors}`)
  return Promise.all(
    clients.map(async ({ id }) => {
      const response = await send(stage, `/clients/${id}/notes`, { date: '2026-03-12', text: 'We agreed on a fee.' })
      return { path: `/clients/${id}/drafts`, note: await idIn(response) }
    }),
  )
}

async function play(stage: PagesStage, model: DraftsModel, targets: readonly Target[], name: string): Promise<Times[]> {
  const times: Times[] = []
  let begun = 0
  const author = async ({ path, note }: Target) => {
    while (begun < perRound) {
      const instructions = `${name}, letter ${begun++}`
      const sent = performance.now()
      const shown = await firstText(await send(stage, path, { instructions, notes: [note] }))
      const written = model.times.get(instructions)
      if (written === undefined) throw new Error(`The model was not asked for ${instructions}.`)
      times.push({ toModel: written.asked - sent, toText: shown - written.first })
    }
  }
  await Promise.all(targets.map(author))
  return times
}

/** Reads a letter to its end. Returns when its first text arrived. */
async function firstText(response: Response): Promise<number> {
  let text = ''
  let shown: number | undefined
  const chunks: AsyncIterable<Uint8Array> | null = response.body
  for await (const chunk of chunks ?? []) {
    text += Buffer.from(chunk).toString()
    if (text.includes('event: delta')) shown ??= performance.now()
  }
  if (shown === undefined || !text.includes('event: done')) throw new Error(`A letter was not kept: ${text}`)
  return shown
}

async function send({ url, cookie }: PagesStage, path: string, body: object): Promise<Response> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`)
  return response
}

async function idIn(response: Response): Promise<string> {
  const id = /"id":"([^"]+)"/.exec(await response.text())?.[1]
  if (id === undefined) throw new Error('A note was not created.')
  return id
}

async function prove({ database }: PagesStage, letters: number): Promise<void> {
  const [found] = await database.rows<{ charged: bigint; kept: bigint }>(
    `select (select count(*) from ledger where person_id is not null) as charged,
      (select count(*) from letter where generated) as kept`,
  )
  if (Number(found?.charged) === letters && Number(found?.kept) === letters) return
  throw new Error(`${letters} letters, but ${found?.charged} charges and ${found?.kept} kept`)
}

function quantile(times: readonly Times[], of: keyof Times, share: number): number {
  const sorted = times.map((each) => each[of]).toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
}
