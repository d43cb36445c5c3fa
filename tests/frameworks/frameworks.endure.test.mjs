// Runs the examples of the frameworks, which only `npm run endure` installs.
import { existsSync } from 'node:fs'
import { test } from 'node:test'

const files = [
  'agents-sdk',
  'ai-sdk',
  'anthropic',
  'instructor',
  'langchain',
  'langchain-agents',
  'langchain-anthropic',
  'llamaindex',
  'llamaindex-workflow',
  'openai',
]

if (existsSync(new URL('node_modules/.package-lock.json', import.meta.url))) {
  const loaded = Promise.withResolvers()
  // The tests run in turn. Loading a framework takes seconds, for which no other test can wait.
  test('the examples load', () => loaded.promise)
  for (const file of files) await import(`./${file}.mjs`)
  loaded.resolve()
} else {
  for (const file of files) test(file, { skip: 'the packages of tests/frameworks are not installed' })
}
