// Runs several test files in one process: loading what they share takes longer than most of them.
import { AsyncResource } from 'node:async_hooks'
import { appendFileSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { after, before, describe, mock } from 'node:test'

/** Clock ticks per second, in proc(5). Linux has no other value on the machines that the runtime supports. */
const ticks = 100
/** ms that a process may keep running after its last test: something was left open, which must not keep the whole run. */
const grace = 30_000

/**
 * Modules that wait at their top level, or import one that does. They are loaded first: a test file that has to wait for one while it is imported would leave
 * its suite, so that its tests would belong to no file.
 */
const waiting = [
  'libxml2-wasm',
  'node-llama-cpp',
  ...['en16931', 'provider-packages', 'tokenizer-file', 'translation-upstreams'].map(
    (name) => `tests/support/${name}.ts`,
  ),
]

const namesModule = (file, module) => readFileSync(file, 'utf8').includes(`${posix.basename(module)}'`)

let left = 0

/** How many test files follow in this process. 0 if a file was started by itself. */
export const filesLeft = () => left

/**
 * Loads the files. Of several, each becomes a suite named by its path, and they run one after the other. Each line that is
 * appended to `journal` says which file the process is at or, at the end, what each has cost.
 * @param {string} root
 * @param {string[]} files Relative to the root.
 * @param {string} journal
 */
export async function runTogether(root, files, journal) {
  const note = (line) => appendFileSync(journal, `${JSON.stringify(line)}\n`)
  const enter = (file) => {
    process.title = `node ${join(root, file)}`
    note({ at: file, of: files })
  }
  const costs = files.map((file) => ({ file, wall: 0, processor: 0 }))
  endAfter(files)
  process.on('exit', () => {
    for (const cost of withShares(costs, spent())) note(cost)
  })
  if (files.length === 1) {
    enter(files[0])
    await import(join(root, files[0]))
    return
  }
  for (const module of waiting.filter((name) => files.some((file) => namesModule(join(root, file), name)))) {
    await import(module.startsWith('tests/') ? join(root, module) : module)
  }
  for (const cost of costs) {
    describe(cost.file, async () => {
      const suite = new AsyncResource('suite')
      let start = { wall: 0, processor: 0 }
      before(() => {
        enter(cost.file)
        left = files.length - files.indexOf(cost.file) - 1
        start = spent()
      })
      enter(cost.file)
      await import(join(root, cost.file))
      // After the file's own hooks.
      suite.runInAsyncScope(() =>
        after(() => {
          mock.timers.reset()
          mock.restoreAll()
          const end = spent()
          Object.assign(cost, { wall: end.wall - start.wall, processor: end.processor - start.processor })
        }),
      )
    })
  }
}

/** Ends the process some time after its last test, if something is still open. */
function endAfter(files) {
  after(() => {
    setTimeout(() => {
      process.stderr.write(`Still open after ${files.join(' ')}: ${process.getActiveResourcesInfo().join(' ')}\n`)
      process.exit()
    }, grace).unref()
  })
}

/** The costs of the files, each with an equal share of what belongs to none: loading. */
function withShares(costs, whole) {
  const shareOf = (key) => (whole[key] - costs.reduce((sum, cost) => sum + cost[key], 0)) / costs.length
  const [wall, processor] = [shareOf('wall'), shareOf('processor')]
  return costs.map((cost) => ({ file: cost.file, wall: cost.wall + wall, processor: cost.processor + processor }))
}

/** In seconds: since the start of this process, and the processor time of it and of the processes that it started and waited for. */
function spent() {
  return { wall: performance.now() / 1000, processor: processorTime() }
}

/** Without /proc, only that of this process. */
function processorTime() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field) / ticks, 0)
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  }
}
