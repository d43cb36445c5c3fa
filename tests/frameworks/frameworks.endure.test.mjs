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
const isInstalled = existsSync(new URL('node_modules/.package-lock.json', import.meta.url))

for (const file of files) {
  if (isInstalled) await import(`./${file}.mjs`)
  else test(file, { skip: 'the packages of tests/frameworks are not installed' })
}
