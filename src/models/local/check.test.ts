import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { tinyFile } from '../../../tests/support/engine.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { OperatorError } from '../../platform/problems.ts'
import { checkModel } from './check.ts'
import { temporaryFolder } from '../../../tests/support/fixture.ts'

const folder = temporaryFolder()
const original = await readFile(tinyFile)

/** Checks a copy of the shipped model with `setting` renamed. */
async function checkWithout(setting: string) {
  const bytes = Buffer.from(original)
  bytes.write('x', bytes.indexOf(setting) + setting.length - 1)
  const file = path.join(folder, `${setting}.gguf`)
  await writeFile(file, bytes)
  return checkModel(file, createTestLog())
}

const refusal = (reason: RegExp) => (error: unknown) => {
  assert.ok(error instanceof OperatorError)
  assert.match(error.message, reason)
  return true
}

void test('reports the facts and the speed of a model', async () => {
  const { speed, ...facts } = await checkModel(tinyFile, createTestLog())
  assert.equal(facts.architecture, 'llama')
  assert.equal(facts.trainedContext, 1024)
  assert.equal(facts.hasChatTemplate, true)
  assert.equal(facts.bytes, original.length)
  assert.ok(speed)
  for (const measured of [speed.load, speed.prefill, speed.decode]) assert.ok(measured > 0, JSON.stringify(speed))
  assert.equal(speed.context, 1024)
  assert.ok(speed.memory === null || speed.memory > original.length, JSON.stringify(speed))
})

void test('a model without a chat template has no speed, since it cannot be served', async () => {
  const { hasChatTemplate, speed } = await checkWithout('tokenizer.chat_template')
  assert.deepEqual({ hasChatTemplate, speed }, { hasChatTemplate: false, speed: null })
})

void test('an unusable file is refused, whether its header or loading it shows the fault', async () => {
  await assert.rejects(checkModel(path.join(folder, 'none.gguf'), createTestLog()), refusal(/no model file/))
  await assert.rejects(checkWithout('tokenizer.ggml.tokens'), refusal(/cannot be used: .*vocab/))
})
