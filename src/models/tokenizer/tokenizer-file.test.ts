import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createTestEngine } from '../../../tests/support/engine.ts'
import { writeTokenizerFile } from '../../../tests/support/tokenizer-file.ts'
import type { TextMessage } from '../conversation.ts'
import { createCountingThread } from './counting-thread.ts'
import { loadTokenizerFile } from './tokenizer-file.ts'
import { faultOfTokenizerFile } from './tokenizer.ts'
import { temporaryFolder } from '../../../tests/support/fixture.ts'

const root = temporaryFolder()
const engine = createTestEngine()
const thread = createCountingThread({ budget: 600_000, patience: 600_000 })
// A count waits for the model for only five seconds.
before(() => engine.ready())
after(() => Promise.all([engine.close(), thread.close()]))

const folder = async (name: string): Promise<string> => {
  await mkdir(path.join(root, name))
  return path.join(root, name)
}
const file = await writeTokenizerFile(await folder('whole'))
const texts = {
  English: 'We agreed on a fixed fee of $4,800 for the annual accounts, payable in two instalments.',
  German: 'Wir haben ein Pauschalhonorar von 4.800 € für den Jahresabschluss vereinbart.',
  Arabic: 'اتفقنا على أتعاب ثابتة قدرها 4800 دولار للحسابات السنوية.',
  Chinese: '我们商定年度账目的固定费用为4800美元，分两期支付。',
  code: 'export const feeOf = (hours: number): number => {\n  return Math.max(hours, 0.25) * 120\n}\n',
}

describe('A34 a tokenizer.json with its chat template counts what llama.cpp counts', () => {
  for (const [language, text] of Object.entries(texts)) {
    test(`in ${language}`, async () => {
      const messages: TextMessage[] = [
        { role: 'system', text: 'Answer briefly.' },
        { role: 'user', text },
        { role: 'assistant', text: 'Yes.' },
        { role: 'user', text },
      ]
      assert.equal(await thread.count(file, messages), (await engine.count({ messages })).tokens)
    })
  }

  test('in a long text, within 1 %', async () => {
    const messages: TextMessage[] = [{ role: 'user', text: Object.values(texts).join(' ').repeat(30) }]
    const [counted, exact] = await Promise.all([thread.count(file, messages), engine.count({ messages })])
    assert.ok(Math.abs(counted / exact.tokens - 1) <= 0.01, `${counted} instead of ${exact.tokens}`)
  })
})

const hello: TextMessage[] = [{ role: 'user', text: 'x' }]
const template = "{{ bos_token }}{% for m in messages %}{{ m.role + ':' }}{% endfor %}{{ '>' }}"

test('the chat template can be in a separate file, or one of several', async () => {
  const own = await folder('own')
  await writeTokenizerFile(own, { withTemplate: false })
  const bare = (await loadTokenizerFile(path.join(own, 'tokenizer.json'))).overhead(hello)
  assert.equal(bare, 16, 'without a template, 8 tokens for each message and 8 for the prompt')
  await writeFile(path.join(own, 'chat_template.jinja'), template)
  const { overhead, count } = await loadTokenizerFile(path.join(own, 'tokenizer.json'))
  assert.equal(overhead(hello), count('user:>'))
  const config = { bos_token: { content: '<|im_start|>' }, chat_template: [{ name: 'default', template }] }
  await writeFile(path.join(own, 'tokenizer_config.json'), JSON.stringify(config))
  const several = await loadTokenizerFile(path.join(own, 'tokenizer.json'))
  assert.equal(several.overhead(hello), 1 + count('user:>'))
})

test('a template that refuses the messages adds a fixed number of tokens', async () => {
  const strict = await folder('strict')
  await writeTokenizerFile(strict, { withTemplate: false })
  await writeFile(path.join(strict, 'chat_template.jinja'), "{{ raise_exception('Only one message.') }}")
  assert.equal((await loadTokenizerFile(path.join(strict, 'tokenizer.json'))).overhead([...hello, ...hello]), 24)
})

test('the error for an unusable file names it', async () => {
  const broken = await folder('broken')
  assert.equal(await faultOfTokenizerFile(file), null)
  for (const text of [undefined, '', '{}', '"text"']) {
    const place = path.join(broken, 'tokenizer.json')
    if (text !== undefined) await writeFile(place, text)
    assert.match((await faultOfTokenizerFile(place)) ?? '', /broken\/tokenizer\.json cannot be read as a tokenizer/)
  }
})
