import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { client, clientSeeds } from './documents-seed.ts'
import { openPortalStage, type PortalStage } from './portal-stage.ts'
import type { Row } from './row.ts'
import { freePort, startProcess } from './server-process.ts'
import { superuserUrl } from './tollgate.ts'

const folder = join(import.meta.dirname, 'data/uploads')

/**
 * The throughput of an upload to the database and to a folder, as a multiple of what a bare server reaches that stores the same bytes in
 * pieces of 512 KiB, each durable before the next, without encrypting or hashing them. Throws if a response has another status than expected.
 */
export async function benchUploads(): Promise<Row[]> {
  const rows: Row[] = []
  for (const place of ['database', 'folder'] as const) {
    const stage = await openPortalStage(join(folder, place), {
      accounts: 1,
      settings: `documents: { store: ${place === 'database' ? place : join(folder, 'files')} }\n`,
      seed: async (database) => {
        for (const statement of clientSeeds) await database.rows(statement)
      },
    })
    try {
      rows.push(...(await timeUploads(stage, place)))
    } finally {
      await stage.close()
    }
  }
  return rows
}

const bytesOfUpload = 50_000_000
const rounds = 7

/** Sends the bytes. Returns the seconds until the response is there. */
async function send(url: string, bytes: Buffer, cookie: string): Promise<number> {
  const started = performance.now()
  const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-length': bytes.length }
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  const sent = request(url, { method: 'POST', headers }, (response) => {
    response.resume()
    response.on('end', () => resolve(response.statusCode))
  })
  sent.on('error', reject)
  sent.end(bytes)
  const status = await promise
  if (status !== 200 && status !== 201) throw new Error(`${url} answers ${status}`)
  return (performance.now() - started) / 1000
}

async function timeUploads({ url, cookie, installation }: PortalStage, place: 'database' | 'folder'): Promise<Row[]> {
  const port = await freePort()
  const bareFolder = join(folder, `bare-${place}`)
  await mkdir(bareFolder, { recursive: true })
  const bare = startProcess({
    command: process.execPath,
    args: [
      join(import.meta.dirname, 'peers/bare-uploads.ts'),
      `${port}`,
      bareFolder,
      await superuserUrl(installation.environment),
    ],
    output: join(bareFolder, 'log'),
  })
  const at = `http://127.0.0.1:${port}`
  const upload = () => send(`${url}/clients/${client}/uploads`, randomBytes(bytesOfUpload), cookie)
  const bareUpload = (path: string) => send(`${at}/${path}`, randomBytes(bytesOfUpload), '')
  try {
    console.log(`  uploading to the ${place} …`)
    await bare.ready(`${at}/readyz`, 10_000)
    const speeds: number[] = []
    const ratios: number[] = []
    const streams: number[] = []
    const bounds: number[] = []
    for (let round = -1; round < rounds; round++) {
      const own = await upload()
      const stored = await bareUpload(place)
      const streamed = await bareUpload('stream')
      const discarded = await bareUpload('nowhere')
      if (round < 0) continue
      console.log(`  ${[own, stored, streamed, discarded].map((seconds) => seconds.toFixed(2)).join(', ')} s`)
      speeds.push(bytesOfUpload / own / 1e6)
      ratios.push(stored / own)
      streams.push(streamed / own)
      bounds.push(bytesOfUpload / discarded / 1e6)
    }
    return [
      { name: `upload to the ${place}`, unit: 'MB/s', samples: speeds },
      { name: `upload to the ${place} ÷ bare server that stores`, unit: '×', samples: ratios, goal: { atLeast: 0.8 } },
      { name: `upload to the ${place} ÷ bare stream to one file`, unit: '×', samples: streams },
      { name: `bare server that discards, beside it`, unit: 'MB/s', samples: bounds },
    ]
  } finally {
    await bare.stop()
  }
}
