import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { isEndure } from '../support/draws.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { shippedModel, startService } from '../support/service.ts'

const root = path.join(import.meta.dirname, '../..')
const execute = promisify(execFile)

const service = fixture(() => startService({ models: [shippedModel()], aliases: { default: 'tiny' } }))
setUp(() => service.untilReady())

/** A pattern in the output of each example, and how many requests it is charged for. */
const expected: Readonly<Record<string, readonly [RegExp, number]>> = {
  'curl.sh': [/^\{"output_text":"[^]+\nevent: output_text\.delta\n[^]+\nevent: done\ndata: \{"output_text"/, 2],
  'fetch.mjs': [/output_text: [^]+ for 0\.\d+\n[^]+output_tokens: \d+/, 2],
  'openai.mjs': [/total_tokens: [^]+output_tokens: [^]+model tiny\ntiny is served by tiny\n$/, 3],
  'anthropic.mjs': [/output_tokens: [^]+output_tokens: [^]+model tiny\ntiny is served by tiny\n$/, 2],
  'ai-sdk.mjs': [/ \d+ \d+\n([^]+ \d+\n){2}$/, 6],
}

/** The two that use no library. */
const simplest = new Set(['curl.sh', 'fetch.mjs'])

function run(file: string, args: readonly string[], environment: Record<string, string>) {
  const program = file.endsWith('.sh') ? 'sh' : process.execPath
  const env = { PATH: process.env['PATH'] ?? '', ...environment }
  return execute(program, [path.join(root, 'examples', file), ...args], { env, timeout: 30_000 })
}

describe('the examples', () => {
  it('are all tested, and linked from the documentation', () => {
    assert.deepEqual(readdirSync(path.join(root, 'examples')).toSorted(), Object.keys(expected).toSorted())
    const page = readFileSync(path.join(root, 'docs/clients.md'), 'utf8')
    for (const file of Object.keys(expected)) assert.ok(page.includes(`(../examples/${file})`), file)
  })

  for (const [file, [output, requests]] of Object.entries(expected)) {
    it(`A30 ${file} runs unchanged, configured by arguments or by environment`, async () => {
      const { accountId, key } = await service.customer()
      const { stdout } = await run(file, [service.url, key, 'tiny'], {})
      assert.match(stdout, output)
      assert.equal((await service.books(accountId)).rows.length, requests)
      if (!isEndure && !simplest.has(file)) return
      await run(file, [], { TOLLGATE_URL: service.url, TOLLGATE_KEY: key })
      assert.equal((await service.books(accountId)).rows.length, 2 * requests)
    })
  }

  it('exit with an error if the key is refused', async () => {
    for (const file of isEndure ? Object.keys(expected) : simplest)
      await assert.rejects(run(file, [service.url, 'tg_wrong', 'tiny'], {}), file)
  })
})
