import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languages, styleIn, tones, withStyle } from './style.ts'

test('instructions with a language and a tone are taken apart as they were put together', () => {
  for (const language of ['', 'German', ...languages]) {
    for (const tone of ['', ...tones]) {
      assert.deepEqual(styleIn(withStyle('Thank Anna.\n\nAsk for the accounts.', { language, tone })), {
        text: 'Thank Anna.\n\nAsk for the accounts.',
        language,
        tone,
      })
    }
  }
})

test('a model reads the choices in lines of their own, after the text', () => {
  const style = { language: 'German', tone: 'formal' }
  assert.equal(withStyle('Thank Anna. \n', style), 'Thank Anna.\n\nWrite the letter in German.\nKeep the tone formal.')
  assert.equal(withStyle('Thank Anna. \n', { language: '', tone: '' }), 'Thank Anna. \n')
})

test('what a person wrote stays part of the text', () => {
  for (const text of [
    '',
    'Write the letter in German, please.',
    'Keep the tone formal.\nThank Anna.',
    'Keep the tone odd.',
  ]) {
    assert.deepEqual(styleIn(text), { text, language: '', tone: '' })
  }
})
