import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chooseTokenizer, type TokenizerChoice } from './choice.ts'

const o200k: TokenizerChoice = { by: 'text', source: 'o200k_base' }
const cl100k: TokenizerChoice = { by: 'text', source: 'cl100k_base' }
const anthropic: TokenizerChoice = { by: 'server', api: 'anthropic' }
const bytes: TokenizerChoice = { by: 'bytes' }

const automatic: [upstreamModel: string, isAnthropic: boolean, expected: TokenizerChoice][] = [
  ...['gpt-4o', 'gpt-4o-mini-2024-07-18', 'gpt-4.1-nano', 'gpt-4.5-preview', 'gpt-5', 'gpt-5.2-mini'].map(
    (name): [string, boolean, TokenizerChoice] => [name, false, o200k],
  ),
  ...['o1', 'o3-mini', 'o4-mini', 'chatgpt-4o-latest', 'gpt-oss-20b', 'openai/gpt-oss-120b', 'openai/GPT-4o'].map(
    (name): [string, boolean, TokenizerChoice] => [name, false, o200k],
  ),
  ...['gpt-4', 'gpt-4-turbo', 'gpt-4-0613', 'gpt-3.5-turbo', 'openai/gpt-3.5-turbo-16k', 'text-embedding-3-small'].map(
    (name): [string, boolean, TokenizerChoice] => [name, false, cl100k],
  ),
  ['claude-sonnet-4-5', true, anthropic],
  ['claude-sonnet-4-5', false, bytes],
  ['gpt-4o', true, o200k],
  ['mistral-large', true, bytes],
  ['m', false, bytes],
  ['my-gpt-4o', false, bytes],
  ['text-embedding-004', false, bytes],
  ['opus', false, bytes],
]

describe('auto', () => {
  for (const [upstreamModel, isAnthropic, expected] of automatic) {
    test(`${upstreamModel}${isAnthropic ? ' at Anthropic' : ''}`, () => {
      assert.deepEqual(chooseTokenizer({ setting: 'auto', upstreamModel, isAnthropic }), expected)
    })
  }
})

const choose = (setting: string) => chooseTokenizer({ setting, upstreamModel: 'gpt-4o', isAnthropic: true })

test('the setting overrides the model name', () => {
  assert.deepEqual(choose('bytes'), bytes)
  assert.deepEqual(choose('cl100k_base'), cl100k)
  assert.deepEqual(choose('/models/tokenizer.json'), { by: 'text', source: '/models/tokenizer.json' })
  for (const api of ['vllm', 'llama-server', 'anthropic'] as const) assert.deepEqual(choose(api), { by: 'server', api })
})
