// Loaded into each test file before its tests: at its end, appends the processor time of its process and of the processes that
// it started and waited for.
import { appendFileSync, readFileSync } from 'node:fs'

/** Clock ticks per second, in proc(5). Linux has no other value on the machines that the runtime supports. */
const ticks = 100

const { TEST_COSTS: costs, NODE_TEST_CONTEXT: context } = process.env
const [, file = ''] = process.argv
if (costs !== undefined && context !== undefined && /\.test\.\w+$/.test(file)) {
  process.on('exit', () => {
    appendFileSync(costs, `${JSON.stringify({ file, wall: performance.now() / 1000, processor: processorTime() })}\n`)
  })
}

/** In seconds. Without /proc, only that of this process. */
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
