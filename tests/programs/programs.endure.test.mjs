// Runs real programs against Tollgate, in front of a stand-in for the vendor. Only `npm run endure` installs them.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startScriptedUpstream } from '../frameworks/scripted-upstream.mjs'
import { startService, upstreamModel } from '../support/service.ts'

const packages = path.join(import.meta.dirname, 'node_modules')

/**
 * The programs. `setUp` writes the configuration and returns the environment: the URL, the key and the model, and what keeps the
 * program from calling home. `read` and `edit` are calls of its tools that work on the note.
 */
/** The names of models that Codex does not know, knows as one with tools of their own form, and as one with tools in items. */
const codexModels = ['fast', 'gpt-5.5', 'gpt-6.2-sol']

const programs = [
  {
    name: 'Claude Code',
    model: 'fast',
    file: '@anthropic-ai/claude-code-linux-x64/claude',
    setUp: async ({ url, key }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_MODEL: 'fast',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
    begin: (prompt) => ['--print', prompt, '--permission-mode', 'acceptEdits'],
    goOn: (prompt) => ['--continue', '--print', prompt, '--permission-mode', 'acceptEdits'],
    read: (file) => ['Read', { file_path: file }],
    edit: (file) => ['Edit', { file_path: file, old_string: 'one', new_string: 'two' }],
  },
  ...codexModels.map(codex),
  {
    name: 'opencode',
    model: 'fast',
    file: 'opencode-linux-x64/bin/opencode',
    setUp: async ({ url, key, folder }) => {
      const options = { baseURL: `${url}/v1`, apiKey: '{env:TOLLGATE_KEY}' }
      const tollgate = { npm: '@ai-sdk/openai-compatible', options, models: { fast: {} } }
      await writeFile(
        path.join(folder, 'opencode.json'),
        JSON.stringify({ model: 'tollgate/fast', provider: { tollgate } }),
      )
      return { TOLLGATE_KEY: key, OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }
    },
    begin: (prompt) => ['run', prompt],
    goOn: (prompt) => ['run', '--continue', prompt],
    read: (file) => ['read', { filePath: file }],
    edit: (file) => ['edit', { filePath: file, oldString: 'one', newString: 'two' }],
  },
  {
    name: 'Continue',
    model: 'fast',
    file: '@continuedev/cli/dist/cn.js',
    setUp: async ({ url, key, home }) => {
      await mkdir(path.join(home, '.continue'))
      await writeFile(
        path.join(home, '.continue/config.yaml'),
        `name: Tollgate
version: 1.0.0
schema: v1
models:
  - name: fast
    provider: openai
    model: fast
    apiBase: ${url}/v1
    apiKey: ${key}
    capabilities: [tool_use]
`,
      )
      return { CONTINUE_TELEMETRY_ENABLED: '0' }
    },
    begin: (prompt) => ['--auto', '--print', prompt],
    goOn: (prompt) => ['--resume', '--auto', '--print', prompt],
    read: (file) => ['Read', { filepath: file }],
    edit: (file) => ['Edit', { file_path: file, old_string: 'one', new_string: 'two' }],
  },
  {
    name: 'Cline',
    model: 'fast',
    file: '@cline/cli-linux-x64/bin/cline',
    setUp: async ({ url, key, program, home, folder }) => {
      const args = ['auth', '--provider', 'openai', '--apikey', key, '--modelid', 'fast', '--baseurl', `${url}/v1`]
      await promisify(execFile)(program, args, { cwd: folder, env: { HOME: home, PATH: process.env.PATH } })
      return { CLINE_NO_AUTO_UPDATE: '1' }
    },
    // It ends with an error if a connection is cut, and continues a conversation only in a terminal.
    cuts: 0,
    begin: (prompt) => [prompt],
    read: (file) => ['read_files', { files: [{ path: file }] }],
    edit: (file) => ['editor', { path: file, old_text: 'one', new_text: 'two' }],
  },
]

/**
 * Codex with a model. Of one whose name it knows as OpenAI's, it sends other tools: `apply_patch` with a grammar, the search for tools, and
 * tools in items of the input.
 */
function codex(model) {
  return {
    name: `Codex CLI with ${model}`,
    model,
    file: '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex',
    setUp: async ({ url, key, home }) => {
      await mkdir(path.join(home, '.codex'))
      await writeFile(
        path.join(home, '.codex/config.toml'),
        `model = "${model}"
model_provider = "tollgate"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.tollgate]
name = "Tollgate"
base_url = "${url}/v1"
env_key = "TOLLGATE_KEY"
wire_api = "responses"
`,
      )
      return { TOLLGATE_KEY: key }
    },
    begin: (prompt) => ['exec', ...codexFlags, prompt],
    goOn: (prompt) => ['exec', 'resume', '--last', ...codexFlags, prompt],
    read: (file, tools) => commandOf(`cat ${file}`, tools),
    edit: (file, tools) =>
      tools.includes('apply_patch')
        ? ['apply_patch', { input: patchOf(file) }]
        : commandOf(`apply_patch <<'END'\n${patchOf(file)}\nEND\n`, tools),
  }
}

/** The newest models write a program that calls the tools. */
function commandOf(cmd, tools) {
  if (tools.includes('exec_command')) return ['exec_command', { cmd }]
  return ['exec', { input: `text(await tools.exec_command(${JSON.stringify({ cmd })}))` }]
}

/** The test runs in a folder of its own, where a sandbox protects nothing and needs rights that containers lack. */
const codexFlags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
const patchOf = (file) =>
  ['*** Begin Patch', `*** Update File: ${file}`, '@@', '-one', '+two', '*** End Patch'].join('\n')

const namesOf = ({ tools }) => tools.map((each) => each.function.name.split('__').at(-1))

const done = 'The note says two.'

/** A call of a tool, by the name that the model knows: one in a namespace has that in front. */
function callOf([tool, input], id, { tools }) {
  const { name } = tools.map((each) => each.function).find((each) => each.name.split('__').at(-1) === tool)
  return { calls: [{ id, name, input: JSON.stringify(input) }] }
}

/** The messages since the user spoke last. */
const turnOf = ({ messages }) => messages.slice(messages.findLastIndex(({ role }) => role === 'user'))

/** Cline leaves a process behind, whose command line has the folder of the test. */
async function endDaemons(folder) {
  for (const id of (await readdir('/proc')).filter((each) => /^\d+$/.test(each))) {
    const command = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')
    if (command.includes(folder)) process.kill(Number(id))
  }
}

for (const { name, model, file, cuts = 1, setUp, begin, goOn, read, edit } of programs) {
  const program = path.join(packages, file)
  const skip = existsSync(program) ? false : `${file} is not installed in tests/programs`
  describe(`A50 ${name}`, { skip }, () => {
    let upstream, service, customer, home, folder, note, environment
    before(async () => {
      upstream = await startScriptedUpstream()
      const large = { id: model, context: 200_000, max_output_tokens: 64_000 }
      service = await startService({ models: [upstreamModel(upstream.url, large)] })
      customer = await service.customer()
      home = await mkdtemp(path.join(tmpdir(), 'tollgate-program-'))
      folder = path.join(home, 'work')
      await mkdir(folder)
      note = path.join(folder, 'note.txt')
      await writeFile(note, 'one\n')
      const rest = await setUp({ url: service.url, key: customer.key, program, home, folder })
      environment = { PATH: process.env.PATH, HOME: home, ...rest }
    })
    after(async () => {
      await service.close()
      await upstream.close()
      await endDaemons(folder)
      await rm(home, { recursive: true })
    })

    /** Runs the program to its end while the upstream replies to its requests for work with `reply`. Returns what it prints. */
    async function run(args, reply) {
      // Without tools, a program asks for the title of the conversation.
      upstream.script((body) => (body.tools ? reply(body) : { text: 'A note' }))
      const options = { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'], timeout: 240_000 }
      const child = program.endsWith('.js')
        ? spawn(process.execPath, [program, ...args], options)
        : spawn(program, args, options)
      const [printed, warned] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
      assert.equal(child.exitCode, 0, `${printed}\n${warned}`)
      return printed
    }

    it(`reads a file and edits it, over a connection that is cut ${cuts ? 'once' : 'never'}`, async () => {
      let left = cuts
      const printed = await run(begin('Change the note to two.'), (body) => {
        if (left-- > 0) return { text: 'Let me look at it.', cut: true }
        const results = turnOf(body).filter(({ role }) => role === 'tool')
        if (results.length === 0) return { text: 'Let me look.', ...callOf(read(note, namesOf(body)), 'call_1', body) }
        assert.match(JSON.stringify(results[0].content), /one/)
        return results.length === 1 ? callOf(edit(note, namesOf(body)), 'call_2', body) : { text: done }
      })
      assert.equal(await readFile(note, 'utf8'), 'two\n')
      assert.ok(printed.includes(done), printed)
    })

    const continues = { skip: goOn ? false : 'it does that only in a terminal' }
    it('continues the conversation for several turns, with all that was said and done', continues, async () => {
      for (const turn of ['Second', 'Third', 'Fourth']) {
        const printed = await run(goOn(`${turn} question: what does it say?`), () => ({ text: `${turn} answer: two.` }))
        assert.ok(printed.includes(`${turn} answer: two.`), printed)
      }
      const { messages } = upstream.requests.findLast(({ tools }) => tools)
      const said = JSON.stringify(messages)
      for (const each of [
        'Change the note to two.',
        'call_2',
        done,
        'Second answer',
        'Third answer',
        'Fourth question',
      ]) {
        assert.ok(said.includes(each), each)
      }
    })

    it('is charged for each request once, and nothing is held', async () => {
      const { rows, holds } = await service.books(customer.accountId)
      assert.equal(holds, 0)
      const reasons = rows.map(({ stopReason }) => stopReason).filter((reason) => reason !== 'complete')
      assert.deepEqual(reasons, Array(cuts).fill('error'))
    })
  })
}
