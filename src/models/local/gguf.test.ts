import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { inspectModelFile } from './gguf.ts'
import { asOrdinaryUser } from '../../../tests/support/ordinary-user.ts'
import { temporaryFolder } from '../../../tests/support/fixture.ts'

const tiny = path.join(import.meta.dirname, '../../../models/tiny/tiny.gguf')
const original = await readFile(tiny)
const folder = temporaryFolder()

async function reasonOf(file: string): Promise<string> {
  const found = await inspectModelFile(file)
  return found.ok ? 'ok' : found.reason
}

async function inspected(bytes: Uint8Array): Promise<string> {
  const file = path.join(folder, 'model.gguf')
  await writeFile(file, bytes)
  return (await reasonOf(file)).replace(file, 'FILE')
}

function without(setting: string): Buffer {
  const bytes = Buffer.from(original)
  bytes.write('x', bytes.indexOf(setting) + setting.length - 1)
  return bytes
}

void test('reads the facts of the shipped model', async () => {
  const found = await inspectModelFile(tiny)
  assert.ok(found.ok)
  const { parameters, vocabulary, ...rest } = found
  assert.deepEqual(rest, {
    ok: true,
    architecture: 'llama',
    trainedContext: 1024,
    hasChatTemplate: true,
    purpose: 'text',
    bytes: original.length,
  })
  // Two bytes per weight, plus the vocabulary.
  assert.ok(parameters * 2 > original.length * 0.9 && parameters * 2 < original.length, `${parameters}`)
  assert.ok(vocabulary > 256, `${vocabulary}`)
})

void test('a missing file, a folder and a pipe are refused, each with its reason', async () => {
  assert.match(await reasonOf(path.join(folder, 'none.gguf')), /^There is no model file at .*none\.gguf\. Put it there/)
  assert.match(await reasonOf(path.join(tiny, 'below')), /^There is no model file/)
  await mkdir(path.join(folder, 'a-folder'))
  assert.match(await reasonOf(path.join(folder, 'a-folder')), /is not a file\.$/)
  execFileSync('mkfifo', [path.join(folder, 'a-pipe')])
  assert.match(await reasonOf(path.join(folder, 'a-pipe')), /is not a file\.$/)
})

void test('a file without read permission is refused', async () => {
  const file = path.join(folder, 'secret.gguf')
  await writeFile(file, original)
  await chmod(file, 0)
  await chmod(folder, 0o755)
  const reason = await asOrdinaryUser(() => reasonOf(file))
  assert.match(reason, /is not readable/)
})

void test('another format is refused', async () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('GG'), Buffer.from('<html>'), randomBytes(3_000_000)]) {
    assert.equal(await inspected(bytes), 'The model file FILE is not a GGUF file.')
  }
  const other = Buffer.from(original)
  other.writeUInt32LE(9, 4)
  assert.match(await inspected(other), /of version 9/)
})

void test('a file cut off anywhere in the header or in the weights is refused', async () => {
  for (const length of [4, 10, 30, 500, 20_000, 60_000, Math.floor(original.length / 2)]) {
    assert.equal(
      await inspected(original.subarray(0, length)),
      'The model file FILE is cut off. Copy it again.',
      `${length}`,
    )
  }
})

void test('a valid beginning followed by noise is refused', async () => {
  for (let round = 0; round < 20; round += 1) {
    const noise = Buffer.concat([original.subarray(0, 24), randomBytes(100_000)])
    assert.match(await inspected(noise), /cut off|damaged/)
  }
})

void test('an architecture name with control characters is not printed', async () => {
  const bytes = Buffer.from(original)
  bytes.write('\u001B[2J', bytes.indexOf('llama', bytes.indexOf('general.architecture')))
  assert.equal(await inspected(bytes), 'The model file FILE is damaged. Copy it again.')
})

void test('a missing setting that would make llama.cpp abort is named', async () => {
  for (const setting of ['llama.attention.head_count', 'llama.feed_forward_length', 'llama.block_count']) {
    assert.equal(
      await inspected(without(setting)),
      `The model file FILE lacks the setting ${setting}. Get another copy of the model.`,
    )
  }
})

void test('a model without a chat template is accepted as a model file', async () => {
  const file = path.join(folder, 'base.gguf')
  await writeFile(file, without('tokenizer.chat_template'))
  const found = await inspectModelFile(file)
  assert.equal(found.ok && !found.hasChatTemplate, true)
})
