import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after } from 'node:test'
import { stringify } from 'yaml'
import { configRules, resolvedRules } from '../../src/commands/config-rules.ts'
import { loadConfig, type Config, type Environment } from '../../src/platform/config/config.ts'
import { OperatorError } from '../../src/platform/problems.ts'

/** A project folder with the configuration file `settings/test.yaml`, removed after the tests of the file. */
export interface ConfigFolder {
  readonly root: string
  readonly folder: string
  /** Writes the file and loads it. */
  load(this: void, yaml: string | Uint8Array, environment?: Environment): Config
}

export function createConfigFolder(): ConfigFolder {
  const root = mkdtempSync(path.join(tmpdir(), 'tollgate-config-'))
  after(() => rmSync(root, { recursive: true }))
  const folder = path.join(root, 'settings')
  mkdirSync(folder)
  return {
    root,
    folder,
    load(yaml, environment = {}) {
      writeFileSync(path.join(folder, 'test.yaml'), yaml)
      const variables = { TOLLGATE_CONFIG: 'settings/test.yaml', ...environment }
      return loadConfig({ environment: variables, root, cwd: root, rules: configRules, resolvedRules })
    },
  }
}

/** The lines of the OperatorError that `act` throws; any other outcome fails the test. */
export function faultsOf(act: () => unknown): string[] {
  try {
    act()
  } catch (error) {
    assert.ok(error instanceof OperatorError, `not an OperatorError: ${String(error)}`)
    return error.message.split('\n')
  }
  return assert.fail('no error was thrown')
}

/** The formats that a command needs for a firm with these settings. */
export function firmOf({ currency = 'USD', locale = 'en-GB', time_zone = 'UTC' }: Partial<Record<string, string>>) {
  return { config: async () => ({ currency, firm: { locale, time_zone } }) }
}

/** A file with one model of the `openai` engine. `undefined` removes a setting. */
export function upstream(changes: Record<string, unknown> = {}): string {
  const model = {
    id: 'fast',
    engine: 'openai',
    endpoints: [{ url: 'http://127.0.0.1:9101/v1' }],
    upstream_model: 'm',
    context: 32_768,
    max_output_tokens: 4096,
    price: { input: '0.15', output: '0.60' },
    ...changes,
  }
  return stringify({ models: [model] })
}

/** A file with one OpenID provider and these settings changed. */
export function provider(changes: Record<string, unknown> = {}): string {
  const firm = { id: 'firm', name: 'Firm', issuer: 'https://id.example', client_id: 'x', ...changes }
  return stringify({ sign_in: { providers: [firm] } })
}
