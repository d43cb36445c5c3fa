import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { createTestLog } from '../../../tests/support/log.ts'
import { modelLists, startModelServer } from '../../../tests/support/model-lists.ts'
import { until } from '../../../tests/support/until.ts'
import { createDetection, type Detection } from './detection.ts'

const [one, two] = [await startModelServer({}), await startModelServer({})]
const open: Detection[] = []
afterEach(async () => {
  for (const detection of open.splice(0)) await detection.close()
  for (const server of [one, two]) server.asked.length = 0
})
after(() => Promise.all([one.close(), two.close()]))

function detect(pause?: number) {
  const { log, text } = createTestLog()
  const detection = createDetection({ log, ...(pause !== undefined && { pause }) })
  open.push(detection)
  return { detection, log: text }
}

const at = ({ origin }: typeof one, key?: string) => ({ url: `${origin}/v1`, key, api: 'openai' }) as const
const everything = ['tools', 'json', 'images', 'documents', 'reasoning', 'verbosity']

test('a model can do everything until its server has reported, and then what the server does not rule out', async () => {
  one.answer(modelLists.openRouter)
  const { detection } = detect()
  const small = detection.of([at(one)], 'vendor/small:free')
  const large = detection.of([at(one)], 'vendor/large')
  const unlisted = detection.of([at(one)], 'vendor/other')
  assert.deepEqual([...small], everything)
  assert.deepEqual(one.asked, [])
  detection.start()
  await until(() => small.size < 5)
  assert.deepEqual(
    [[...small], [...large], [...unlisted]],
    [['documents'], everything.filter((each) => each !== 'verbosity'), everything],
  )
  assert.deepEqual(one.asked, ['GET /v1/models'], 'a server is asked once for all of its models')
})

test('with several servers, a model can do what none of them rules out', async () => {
  one.answer(modelLists.openRouter)
  two.answer({
    'GET /v1/models': { json: { data: [{ id: 'vendor/large', architecture: { input_modalities: ['text'] } }] } },
  })
  const { detection } = detect()
  const large = detection.of([at(one), at(two, 'k')], 'vendor/large')
  detection.start()
  await until(() => !large.has('images') && one.asked.length > 0)
  assert.deepEqual([...large], ['tools', 'json', 'documents', 'reasoning'])
})

test('forced tools are left of tools if no server rules them out, in whichever order they report', async () => {
  const without = { 'GET /v1/models': { json: { data: [{ id: 'tiny', capabilities: { function_calling: false } }] } } }
  one.answer(modelLists.tollgate)
  const alone = detect().detection
  const forced = alone.of([at(one)], 'tiny')
  const free = alone.of([at(one)], 'fast')
  alone.start()
  await until(() => !forced.has('images') && !free.has('images'))
  assert.deepEqual(
    [[...forced].toSorted(), [...free].toSorted()],
    [
      ['forced_tools', 'json'],
      ['json', 'tools'],
    ],
  )
  for (const answers of [
    [modelLists.tollgate, without],
    [without, modelLists.tollgate],
  ] as const) {
    one.answer(answers[0])
    two.answer(answers[1])
    const { detection, log } = detect()
    const both = detection.of([at(one), at(two, 'k')], 'tiny')
    detection.start()
    await until(() => log().split('lacks capabilities').length === 3)
    assert.deepEqual([...both], ['json'])
  }
})

test('a server that does not answer is asked again, and the key is not logged', async () => {
  one.answer({ 'GET /v1/models': { status: 503 } })
  const { detection, log } = detect(1)
  const set = detection.of([at(one, 'sk-secret')], 'vendor/small:free')
  detection.start()
  await until(() => one.asked.length > 1)
  assert.deepEqual([...set], everything)
  one.answer(modelLists.openRouter)
  await until(() => set.size < 5)
  await detection.close()
  assert.match(log(), /answered with status 503/)
  assert.doesNotMatch(log(), /sk-secret/)
})

test('a server without a list is not asked again', async () => {
  one.answer({})
  const { detection, log } = detect(1)
  const set = detection.of([at(one)], 'm')
  detection.start()
  await until(() => log().includes('has no list of models'))
  await detection.close()
  assert.deepEqual([[...set], one.asked], [everything, ['GET /v1/models']])
})

test('closing ends a request and a pause', async () => {
  one.answer({ 'GET /v1/models': 'hangs' })
  two.answer({ 'GET /v1/models': { status: 500 } })
  const { detection, log } = detect()
  detection.of([at(one), at(two)], 'm')
  detection.start()
  await until(() => one.asked.length > 0 && log().includes('status 500'))
  await detection.close()
  assert.doesNotMatch(log(), /"level":50/)
})
