import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getDocumentProxy } from 'unpdf'
import type { LetterDocument } from '../document.ts'
import { missingCharacters, writePdf } from './pdf.ts'

const letter: LetterDocument = {
  letterhead: { name: 'Berg', address: [] },
  recipient: ['李'],
  date: '12 March 2026',
  subject: 'Letter',
  text: '',
  closing: '',
  author: '',
  language: 'en-GB',
  paper: 'A4',
  source: undefined,
  notice: '',
}

/** The words of a letter, and the left edge of each in points. */
async function placesIn(text: string) {
  const pdf = await getDocumentProxy(new Uint8Array(await writePdf({ ...letter, text })))
  const { items } = await (await pdf.getPage(1)).getTextContent()
  const places = items.flatMap((item) =>
    'transform' in item ? [{ text: item.str.trim(), left: Number(item.transform[4]) }] : [],
  )
  return (word: string) =>
    places.find(({ text: shown }) =>
      [word, Array.from(word).toReversed().join('')].some((each) => shown.includes(each)),
    )?.left ?? assert.fail(`${word} is not in ${JSON.stringify(places)}`)
}

test('every script prints', async () => {
  const text = `Ἑλλάς Ѥѩ Հայերեն ქართული אבג العربية فارسی हिन्दी বাংলা ਪੰਜਾਬੀ ગુજરાતી தமிழ் తెలుగు ಕನ್ನಡ മലയാളം සිංහල ไทย ລາວ ខ្មែរ မြန်မာ
    አማርኛ 中文 繁體 日本語 한국어 ☎ 👍🏽 👩‍💻`
  assert.deepEqual(missingCharacters({ ...letter, text }), [])
  assert.ok((await writePdf({ ...letter, text })).length > 10_000)
})

test('words from right to left are in their order, those from left to right within them in theirs', async () => {
  const hebrew = await placesIn('אחת English (שתיים) 123 שלוש')
  const order = ['אחת', 'English', 'שתיים', '123', 'שלוש'].map(hebrew)
  assert.deepEqual(
    order,
    order.toSorted((one, other) => other - one),
  )
  const english = await placesIn('One אחת, שתיים two')
  const mixed = ['One', 'שתיים', 'אחת', 'two'].map(english)
  assert.deepEqual(
    mixed,
    mixed.toSorted((one, other) => one - other),
  )
})

test('a paragraph from right to left ends at the left, and its lines begin at the right', async () => {
  const at = await placesIn('ראשון\n\nFirst')
  assert.ok(at('ראשון') > 300 && at('First') < 100)
})
