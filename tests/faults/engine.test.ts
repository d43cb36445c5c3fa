import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import {
  createTestEngine,
  letterPrompt,
  promptOf,
  readRun,
  tinyFile,
  writeEndlessModel,
  type Ran,
} from '../support/engine.ts'
import { OperatorError, Problem } from '../../src/platform/problems.ts'
import { isRunning } from '../../src/platform/system/processes.ts'
import type { LocalEngine, LocalEngineNeeds } from '../../src/models/local/engine.ts'
import { detail } from '../support/detail.ts'
import { isEndure } from '../support/draws.ts'
import { until } from '../support/until.ts'
import { putForward, settle } from '../support/clock.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'engine-'))
after(() => rm(folder, { recursive: true }))
const original = readFileSync(tinyFile)
const endlessFile = path.join(folder, 'endless.gguf')
before(() => writeEndlessModel(endlessFile))

/** An engine that is closed after the test, even if the test fails. */
function openEngine(context: TestContext, needs: Partial<LocalEngineNeeds> = {}) {
  const engine = createTestEngine(needs)
  context.after(() => engine.close())
  return engine
}

const hello = promptOf('Hello')
const ask = (engine: LocalEngine) => readRun(engine, hello, { maxOutputTokens: 2 })

/** Like `ask`, but waits for the engine to start, however slow the machine is. */
async function askPatiently(engine: LocalEngine): Promise<Ran> {
  for (;;) {
    try {
      return await ask(engine)
    } catch (error) {
      isUnavailable(error)
    }
  }
}

function isUnavailable(error: unknown): true {
  assert.ok(error instanceof Problem)
  assert.equal(error.code, 'unavailable')
  assert.ok(Number.isInteger(error.details.retryAfter) && (error.details.retryAfter ?? 0) >= 1)
  return true
}

function kill(engine: LocalEngine, signal: NodeJS.Signals): number {
  const pid = engine.pid()
  assert.ok(pid !== undefined)
  process.kill(pid, signal)
  return pid
}

const untilReady = (engine: LocalEngine): Promise<void> => until(() => engine.health().ready)

/** The runs of each kind that a fault meets. */
const runsOfEach = isEndure ? 4 : 2

/**
 * Starts streaming and whole runs, and stops the child once every stream has its first text, so that no run
 * finishes.
 */
async function underLoad(engine: LocalEngine) {
  for (let tries = 1; ; tries += 1) {
    let ended = 0
    const started = Array.from({ length: runsOfEach }, () => Promise.withResolvers<void>())
    const whole = started.map(() =>
      readRun(engine, letterPrompt, { maxOutputTokens: 500, stream: false }).catch((error: unknown) => error),
    )
    const streamed = started.map(({ resolve }) =>
      readRun(engine, letterPrompt, { maxOutputTokens: 500 }, { onText: () => resolve() }),
    )
    for (const run of [...whole, ...streamed]) void run.then(() => (ended += 1))
    await Promise.all(started.map(({ promise }) => promise))
    kill(engine, 'SIGSTOP')
    await settle()
    if (ended === 0) return { whole, streamed }
    // The child was scheduled and this process was not.
    assert.ok(tries < 10, `${ended} have ended`)
    kill(engine, 'SIGCONT')
    await Promise.all([...whole, ...streamed])
  }
}

/** Checks that the usage counts exactly the text received before the crash. */
async function isPart(engine: LocalEngine, { text, end }: Ran): Promise<void> {
  assert.equal(end.stopReason, 'error')
  isUnavailable(end.problem)
  const { outputTokens } = end.usage
  assert.ok(outputTokens > 0 && outputTokens < 500, `${outputTokens}`)
  const again = await readRun(engine, letterPrompt, { maxOutputTokens: outputTokens })
  assert.deepEqual([text, end.usage], [again.text, again.end.usage])
}

detail(
  'a child ignores the stop signals that a terminal or service manager sends to every process',
  async (context) => {
    const engine = openEngine(context, { file: endlessFile })
    await engine.ready()
    const { whole, streamed } = await underLoad(engine)
    const pid = engine.pid()
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGCONT'] as const) kill(engine, signal)
    for (const run of await Promise.all([...whole, ...streamed])) {
      if (run instanceof Error) throw run
      assert.ok(typeof run === 'object' && run !== null && 'end' in run)
      assert.partialDeepStrictEqual(run.end, { stopReason: 'max_output_tokens', usage: { outputTokens: 500 } })
    }
    assert.equal(engine.pid(), pid)
  },
)

for (const signal of isEndure ? (['SIGKILL', 'SIGABRT', 'SIGSEGV'] as const) : (['SIGKILL'] as const)) {
  void test(`a child that ends by ${signal} fails its requests and ends its streams; later requests are served soon`, async (context) => {
    const engine = openEngine(context, { file: endlessFile })
    await engine.ready()
    const runs = await underLoad(engine)
    const first = kill(engine, signal)
    kill(engine, 'SIGCONT')
    for (const error of await Promise.all(runs.whole)) isUnavailable(error)
    const streams = await Promise.all(runs.streamed)
    assert.equal(engine.health().ready, false)
    const { end } = await askPatiently(engine)
    const counted = await engine.count(hello)
    assert.equal(end.usage.inputTokens, counted.tokens)
    assert.equal(engine.health().ready, true)
    for (const ran of streams) await isPart(engine, ran)
    const second = engine.pid()
    assert.notEqual(second, first)
    await engine.close()
    for (const pid of [first, second]) assert.equal(existsSync(`/proc/${pid}`), false, 'neither runs nor is a zombie')
  })
}

detail(
  'A10 queued requests are refused together, 5 seconds after an engine ended that does not come back',
  async (context) => {
    const engine = openEngine(context, { file: endlessFile, parallel: 1 })
    await engine.ready()
    const begun = Promise.withResolvers<void>()
    const running = readRun(engine, letterPrompt, { maxOutputTokens: 500 }, { onText: () => begun.resolve() })
    await begun.promise
    const first = kill(engine, 'SIGSTOP')
    const waiting = Array.from({ length: 4 }, () => ask(engine))
    await settle()
    kill(engine, 'SIGKILL')
    while (engine.pid() === first) await setTimeout(1)
    kill(engine, 'SIGSTOP')
    assert.equal((await running).end.stopReason, 'error')

    let refused = 0
    const refusals = waiting.map((each) => assert.rejects(each, isUnavailable).then(() => (refused += 1)))
    await Promise.race(refusals)
    await settle()
    assert.equal(refused, 4, 'none waits for five more seconds')
    await Promise.all(refusals)
  },
)

detail('a child that keeps ending is restarted with growing pauses', async (context) => {
  const engine = openEngine(context)
  for (let round = 0; round < 3; round += 1) {
    await askPatiently(engine)
    kill(engine, 'SIGKILL')
    while (engine.health().ready) await setTimeout(1)
  }
  await askPatiently(engine)
  assert.match(engine.logged(), /"restart_in_ms":0\b[\s\S]*"restart_in_ms":500\b[\s\S]*"restart_in_ms":1000\b/)
})

/** Stops a child that has begun something, until it is killed and another responds. */
async function hang(
  context: TestContext,
  begin: (engine: ReturnType<typeof openEngine>) => Promise<unknown>,
): Promise<void> {
  const putOn = putForward(context)
  const engine = openEngine(context, { stallTimeout: 60_000 })
  await begin(engine)
  const first = kill(engine, 'SIGSTOP')
  const asked = assert.rejects(ask(engine), isUnavailable)
  await settle()
  putOn(60_001)
  await asked
  await untilReady(engine)
  await ask(engine)
  assert.notEqual(engine.pid(), first)
}

void test('a child that hangs during a run is killed and restarted', (context) =>
  hang(context, (engine) => engine.ready()))

detail('a child that hangs while loading is killed and restarted', (context) =>
  hang(context, async (engine) => {
    while (engine.pid() === undefined) await setTimeout(1)
  }),
)

// These wait for as long as an operator would.
detail(
  'a stopped child is killed within about ten seconds, whether it is idle, generating or counting tokens',
  async (context) => {
    const [busy, idle] = [openEngine(context), openEngine(context)]
    await Promise.all([busy.ready(), idle.ready()])
    const stopped = [busy, idle].map((engine) => kill(engine, 'SIGSTOP'))
    await Promise.all([ask(busy), busy.count(hello)].map((each) => assert.rejects(each, isUnavailable)))
    for (const engine of [busy, idle]) {
      await untilReady(engine)
      await ask(engine)
      assert.ok(stopped.every((pid) => pid !== engine.pid()))
    }
  },
)

detail('an idle child is not restarted', async (context) => {
  const putOn = putForward(context)
  const engine = openEngine(context, { stallTimeout: 60_000 })
  await engine.ready()
  const pid = engine.pid()
  putOn(60_001)
  // The engine checks the child once a second, and allows eleven missed checks.
  await setTimeout(13_000)
  await ask(engine)
  assert.equal(engine.pid(), pid)
})

const withSetting = (setting: string, value: number): Buffer => {
  const bytes = Buffer.from(original)
  bytes.writeUInt32LE(value, bytes.indexOf(setting) + setting.length + 4)
  return bytes
}

const renamed = (setting: string): Buffer => {
  const bytes = Buffer.from(original)
  bytes.write('x', bytes.indexOf(setting) + setting.length - 1)
  return bytes
}

const faults: readonly { name: string; bytes: Uint8Array | undefined; reason: RegExp; onlyEndure?: true }[] = [
  { name: 'missing', bytes: undefined, reason: /There is no model file at/ },
  { name: 'truncated', bytes: original.subarray(0, 4_000_000), reason: /is cut off/ },
  { name: 'a byte short', bytes: original.subarray(0, -1), reason: /not within the file bounds/, onlyEndure: true },
  { name: 'noise', bytes: new Uint8Array(100_000).fill(7), reason: /is not a GGUF file/ },
  {
    name: 'without head_count',
    bytes: renamed('llama.attention.head_count'),
    reason: /lacks the setting llama\.attention\.head_count/,
  },
  {
    name: 'without a chat template',
    bytes: renamed('tokenizer.chat_template'),
    reason: /no chat template/,
    onlyEndure: true,
  },
  { name: 'of another shape', bytes: withSetting('llama.block_count', 6), reason: /blk\.5/, onlyEndure: true },
]

for (const { name, bytes, reason } of faults.filter(({ onlyEndure = false }) => isEndure || !onlyEndure)) {
  void test(`a model file ${name} makes the engine not ready, and requests are refused at once`, async (context) => {
    const file = path.join(folder, `${name}.gguf`)
    if (bytes) await writeFile(file, bytes)
    const engine = openEngine(context, { file })
    await assert.rejects(engine.ready(), (error) => {
      assert.ok(error instanceof OperatorError)
      assert.match(error.message, reason)
      return true
    })
    const { ready, reason: shown } = engine.health()
    assert.equal(ready, false)
    assert.match(shown ?? '', reason)
    const stopped = performance.now()
    // A request that waited would wait forever.
    context.mock.method(performance, 'now', () => stopped)
    await Promise.all([assert.rejects(engine.count(hello), isUnavailable), assert.rejects(ask(engine), isUnavailable)])
  })
}

detail('the engine recovers on its own when a model file that aborted the child is put right', async (context) => {
  const file = path.join(folder, 'aborts.gguf')
  await writeFile(file, withSetting('llama.attention.head_count', 0))
  const engine = openEngine(context, { file })
  await assert.rejects(engine.ready(), /while it loaded the model: SIGABRT/)
  await assert.rejects(ask(engine), isUnavailable)
  await writeFile(`${file}.new`, original)
  await rename(`${file}.new`, file)
  await untilReady(engine)
  await ask(engine)
})

detail('a model file that is being copied is used once it is complete', async (context) => {
  const file = path.join(folder, 'copied.gguf')
  await writeFile(file, original.subarray(0, 5_000_000))
  const engine = openEngine(context, { file })
  await assert.rejects(engine.ready(), /is cut off/)
  await writeFile(file, original.subarray(5_000_000), { flag: 'a' })
  await untilReady(engine)
  await ask(engine)
})

detail('a context longer than the model was trained for is refused', async (context) => {
  const engine = openEngine(context, { context: 2048 })
  await assert.rejects(engine.ready(), /trained for a context of 1024 tokens; lower its context of 2048/)
})

void test('the child ends with the server, even if the server is killed during a run', async () => {
  const support = new URL('../support/engine.ts', import.meta.url).href
  const program = `
    import { createTestEngine, letterPrompt, readRun } from '${support}'
    const engine = createTestEngine({ file: '${endlessFile}' })
    await engine.ready()
    await readRun(engine, letterPrompt, { maxOutputTokens: 500 }, { onText: () => console.log(engine.pid()) })
  `
  const server = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const printed = await Promise.race([once(server.stdout, 'data'), once(server, 'exit')])
  const pid = Number.parseInt(String(printed), 10)
  assert.ok(existsSync(`/proc/${pid}`))
  server.kill('SIGKILL')
  await once(server, 'exit')
  await until(() => !isRunning(pid))
})

void test('closing lets running and queued requests finish, refuses new ones, and ends the child', async (context) => {
  const engine = openEngine(context, { file: endlessFile, parallel: 1, queue: 1 })
  await engine.ready()
  const pid = engine.pid()
  const runs = [80, 40].map((maxOutputTokens) => readRun(engine, letterPrompt, { maxOutputTokens }))
  await engine.count(hello)
  const closed = Promise.all([engine.close(), engine.close()])
  await assert.rejects(ask(engine), isUnavailable)
  await assert.rejects(engine.count(hello), isUnavailable)
  assert.deepEqual(
    (await Promise.all(runs)).map(({ end }) => end.usage.outputTokens),
    [80, 40],
  )
  await closed
  assert.equal(existsSync(`/proc/${pid}`), false)
  assert.equal(engine.health().ready, false)
})

detail('closing waits no longer than its grace period', async (context) => {
  const engine = openEngine(context, { file: endlessFile, grace: 50 })
  await engine.ready()
  const limits = { maxOutputTokens: 512, stream: false }
  // The run never finishes on its own.
  const pid = kill(engine, 'SIGSTOP')
  const run = readRun(engine, letterPrompt, limits).catch((error: unknown) => error)
  await engine.close()
  assert.equal(existsSync(`/proc/${pid}`), false)
  isUnavailable(await run)
})

detail('an engine can be closed while it loads and while it waits for its file', async (context) => {
  for (const file of [tinyFile, path.join(folder, 'never.gguf')]) {
    const engine = openEngine(context, { file })
    await setTimeout(100)
    const pid = engine.pid()
    await engine.close()
    assert.equal(pid !== undefined && existsSync(`/proc/${pid}`), false)
  }
})
