import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { client, consultant, documentSeeds, pdfOf } from './documents-seed.ts'
import { p95, timePages, type TimedPage } from './page-times.ts'
import { openPortalStage, partner, signIn, type PortalStage } from './portal-stage.ts'
import type { Row } from './row.ts'

const pages: readonly TimedPage[] = [
  { name: 'documents of a client', path: `/clients/${client}/documents`, atMost: 30 },
  { name: 'search, a word on one page in 3 000', path: '/search?q=quagga', atMost: 30 },
  { name: 'search, a word on every page', path: '/search?q=agreement', atMost: 30 },
  { name: 'search, two words on every page', path: '/search?q=write%20agreement', atMost: 30 },
  { name: 'search, a word on one page in 100', path: '/search?q=1942', atMost: 30 },
  { name: 'search, a word on none', path: '/search?q=zebrafish', atMost: 30 },
  { name: 'palette, the beginning of a word on every page', path: '/search?q=agr&limit=3', atMost: 30 },
]

/**
 * How soon the text of a PDF is found, the record page meanwhile, and lists and searches with ten thousand documents on one client. Throws if a
 * response has another status than expected.
 */
export async function benchDocuments(): Promise<Row[]> {
  const stage = await openPortalStage(join(import.meta.dirname, 'data/documents'), {
    accounts: 1,
    seed: async (database) => {
      console.log('  creating documents …')
      for (const statement of documentSeeds) await database.rows(statement)
    },
  })
  try {
    return [...(await timeReading(stage)), ...(await timeSearches(stage))]
  } finally {
    await stage.close()
  }
}

const rounds = 7

/** Of another client than that of the PDF files. */
const recordPage = '/clients/01990000-0001-7000-8000-000000000002'
const reader = '/clients/01990000-0001-7000-8000-000000000003'

async function timeReading({ url, cookie, get }: PortalStage): Promise<Row[]> {
  const post = async (path: string, body: Uint8Array<ArrayBuffer> | string) => {
    const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream'
    const headers = { cookie, 'sec-fetch-site': 'same-origin', accept: 'application/json', 'content-type': type }
    const response = await fetch(url + path, { method: 'POST', headers, body })
    if (response.status !== 201) throw new Error(`${path} answers ${response.status}: ${await response.text()}`)
  }
  const isFound = async (word: string) => {
    const response = await fetch(`${url}/search?q=${word}`, { headers: { cookie, accept: 'application/json' } })
    return (await response.text()).includes('contract.pdf')
  }
  /** Looks at the record page and searches until `isOver` says so. Returns the p95 of the page in ms. */
  const watch = async (isOver: () => Promise<boolean>) => {
    const times: number[] = []
    for (let looks = 0; ; looks++) {
      const started = performance.now()
      await get(recordPage)
      times.push(performance.now() - started)
      await wait(20)
      if (looks % 5 === 4 && (await isOver())) return p95(times)
    }
  }
  const [found, slower]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const word = `found${round}`
    const bytes = new Uint8Array(pdfOf(200, word))
    const digest = createHash('sha256').update(bytes).digest('hex')
    const started = performance.now()
    await post(`${reader}/uploads`, bytes)
    await post(`${reader}/documents`, JSON.stringify({ name: 'contract.pdf', digest }))
    const beside = await watch(async () => {
      if (performance.now() - started > 60_000) throw new Error('The text of a PDF is not found within a minute.')
      return isFound(word)
    })
    const ms = performance.now() - started
    const end = performance.now() + ms
    const alone = await watch(async () => !(await isFound(word)) || performance.now() > end)
    console.log(`  found after ${Math.round(ms)} ms; record page ${beside.toFixed(1)} ms, alone ${alone.toFixed(1)} ms`)
    found.push(ms / 1000)
    slower.push(beside / alone)
  }
  return [
    { name: 'the text of a PDF of 200 pages is found after', unit: 's', samples: found, goal: { atMost: 10 } },
    { name: 'record page while it is read ÷ alone: p95', unit: '×', samples: slower, goal: { atMost: 1.5 } },
  ]
}

async function timeSearches(stage: PortalStage): Promise<Row[]> {
  const rows: Row[] = []
  for (const [who, id] of [
    ['partner', partner],
    ['consultant', consultant],
  ] as const) {
    const cookie = await signIn(stage.database, id)
    const get = async (path: string) => {
      const response = await fetch(stage.url + path, { headers: { cookie, accept: 'application/json' } })
      if (response.status !== 200) throw new Error(`${path} answers ${response.status}: ${await response.text()}`)
      await response.arrayBuffer()
    }
    rows.push(
      ...(await timePages(
        { get },
        pages.map((page) => ({ ...page, name: `${who}: ${page.name}` })),
      )),
    )
  }
  return rows
}
