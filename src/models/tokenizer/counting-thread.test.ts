import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import type { TextMessage } from '../conversation.ts'
import { createCountingThread } from './counting-thread.ts'
import { temporaryFolder } from '../../../tests/support/fixture.ts'

const folder = temporaryFolder()
/** Enough for any machine, so that no count ends early. */
const patient = { budget: 600_000, patience: 600_000 }
const thread = createCountingThread(patient)
after(() => thread.close())

const user = (text: string): TextMessage[] => [{ role: 'user', text }]

/** Texts with their tokens in o200k_base, cl100k_base, p50k_base and r50k_base, as tiktoken counts them. */
const known: [language: string, text: string, tokens: number[]][] = [
  [
    'English',
    'We agreed on a fixed fee of $4,800 for the annual accounts, payable in two instalments. Please send the signed engagement letter by Friday.',
    [31, 31, 32, 32],
  ],
  [
    'German',
    'Wir haben ein Pauschalhonorar von 4.800 € für den Jahresabschluss vereinbart, zahlbar in zwei Raten. Bitte schicken Sie uns den unterschriebenen Auftrag bis Freitag.',
    [40, 47, 62, 62],
  ],
  [
    'Arabic',
    'اتفقنا على أتعاب ثابتة قدرها 4800 دولار للحسابات السنوية تُدفع على قسطين. يرجى إرسال خطاب التكليف الموقع قبل يوم الجمعة.',
    [39, 83, 123, 123],
  ],
  [
    'Chinese',
    '我们商定年度账目的固定费用为4800美元，分两期支付。请在星期五之前把签好的委托书寄给我们。',
    [33, 46, 89, 89],
  ],
  [
    'code',
    'export function feeOf(hours: number, rate = 120): number {\n  const fee = Math.max(hours, 0.25) * rate\n  return Math.round(fee * 100) / 100 // cents\n}\n',
    [48, 48, 50, 50],
  ],
  ['text like control tokens', 'The text <|endoftext|> and <|im_start|> are plain.', [19, 17, 20, 20]],
]

describe('A34 an encoding', () => {
  for (const [language, text, tokens] of known) {
    test(`counts ${language} as tiktoken does, and 7 tokens of template for one message`, async () => {
      const encodings = ['o200k_base', 'cl100k_base', 'p50k_base', 'r50k_base']
      const counted = await Promise.all(encodings.map((encoding) => thread.count(encoding, user(text))))
      assert.deepEqual(
        counted,
        tokens.map((each) => each + 7),
      )
    })
  }

  test('counts each message of a conversation', async () => {
    const messages: TextMessage[] = [
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'Hello' },
      { role: 'assistant', text: 'Hello' },
      { role: 'user', text: '' },
    ]
    assert.equal(await thread.count('o200k_base', messages), 3 + 4 * 4 + 3 + 1 + 1)
  })
})

/** 40 repetitions with a space between them, as tiktoken counts them in o200k_base. */
const repeated: Record<string, number> = { English: 1241, German: 1601, Arabic: 1561, Chinese: 1360, code: 1921 }

describe('A34 a long text, which is counted in slices', () => {
  for (const [language, text] of known.filter(([name]) => name in repeated)) {
    test(`is within 1 % in ${language}`, async () => {
      const tokens = await thread.count('o200k_base', user(`${text} `.repeat(40)))
      const off = tokens / ((repeated[language] ?? 0) + 7) - 1
      assert.ok(Math.abs(off) <= 0.01, `${tokens}, ${(off * 100).toFixed(2)} %`)
    })
  }

  for (const [name, character] of Object.entries({
    a: 'a',
    space: ' ',
    newline: '\n',
    '!': '!',
    一: '一',
    '🙂': '🙂',
  })) {
    test(`of only "${name}" does not block this thread`, async () => {
      const text = character.repeat(200_000)
      let turns = 0
      // A machine that pauses this thread can leave it no turn during one count. A count on this thread would leave none in any.
      for (let attempt = 0; attempt < 50; attempt += 1) {
        let next = setImmediate(function turn() {
          turns += 1
          next = setImmediate(turn)
        })
        const tokens = await thread.count('o200k_base', user(text)).finally(() => clearImmediate(next))
        assert.ok(tokens > 1000 && tokens <= Buffer.byteLength(text) + 7, `${tokens}`)
        if (turns > 0) break
      }
      assert.ok(turns > 0)
    })
  }

  test('counts its bytes once its time is up', async () => {
    const hasty = createCountingThread({ ...patient, budget: -1 })
    assert.equal(await hasty.count('o200k_base', user('Grüß Gott '.repeat(1000))), 12_000 + 7)
    await hasty.close()
  })
})

test('a short text does not wait for long ones', async () => {
  const long = Array.from({ length: 4 }, () => thread.count('o200k_base', user('unbroken'.repeat(200_000))))
  const first = await Promise.race([
    ...long.map((each) => each.then(() => 'long')),
    thread.count('o200k_base', user('x')).then(() => 'short'),
  ])
  assert.equal(first, 'short')
  await Promise.all(long)
})

describe('a count that cannot be made is refused, and the next is served', () => {
  test('the file is missing or not a tokenizer', async () => {
    const file = path.join(folder, 'tokenizer.json')
    await assert.rejects(thread.count(file, user('x')), /ENOENT/)
    for (const text of ['', '{}', '[]', '{"model":{"type":"Nothing"}}']) {
      await writeFile(file, text)
      await assert.rejects(thread.count(file, user('x')), Error, text)
    }
    assert.equal(await thread.count('o200k_base', user('Hello')), 8)
  })

  test('the caller disconnects', async () => {
    const leaving = new AbortController()
    const count = thread.count('o200k_base', user('word '.repeat(200_000)), leaving.signal)
    leaving.abort()
    await assert.rejects(count, /disconnected/)
    await assert.rejects(thread.count('o200k_base', user('x'), AbortSignal.abort()), { name: 'AbortError' })
    assert.equal(await thread.count('o200k_base', user('Hello')), 8)
  })

  test('the thread hangs', async () => {
    const impatient = createCountingThread({ budget: 600_000, patience: 1 })
    await assert.rejects(impatient.count('o200k_base', user('word '.repeat(200_000))), /the thread hung/)
    await impatient.close()
  })

  test('the thread is closed', async () => {
    const closing = createCountingThread(patient)
    const count = assert.rejects(closing.count('o200k_base', user('word '.repeat(200_000))), /the thread ended/)
    await closing.close()
    await count
    assert.equal(await closing.count('o200k_base', user('Hello')), 8)
    await closing.close()
  })
})
