import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'

const service = JSON.stringify(path.join(import.meta.dirname, '../src/service.ts'))

/** The modules of Node that are loaded after running a script. */
function loadedAfter(script: string): string {
  const args = ['--input-type=module', '-e', `${script}\nconsole.log(process.moduleLoadList.join('\\n'))`]
  return execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

test("the service does not load Node's own undici, which would only take memory", () => {
  const undici = 'NativeModule internal/deps/undici/undici'
  assert.ok(loadedAfter(`import 'node:http'`).includes(undici), 'the module has another name now')
  assert.ok(!loadedAfter(`import ${service}`).includes(undici))
})
