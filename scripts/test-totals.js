import { relative } from 'node:path'

/**
 * A reporter for node:test. It writes one JSON object at the end of the run: the counts, the skipped tests with their
 * reasons, the tests marked as todo, and the files that ended before their last test.
 */
export default async function* totals(events) {
  const files = new Set()
  const finished = new Set()
  const skipped = []
  const todo = []
  let counts
  for await (const { type, data } of events) {
    if (type === 'test:complete' && data.file !== undefined) {
      const file = relative(process.cwd(), data.file)
      // The runner reports each file as a test of its own. One that failed is counted by it already.
      if (data.name === file && data.details.passed) files.add(file)
      const name = `${file}: ${data.name}`
      if (isMarked(data.skip)) skipped.push(withReason(name, data.skip))
      if (isMarked(data.todo)) todo.push(withReason(name, data.todo))
    }
    // A file that ran to its end has a summary of its own. The summary of the whole run names no file.
    if (type === 'test:summary' && data.file !== undefined) finished.add(relative(process.cwd(), data.file))
    if (type === 'test:summary' && data.file === undefined) counts = data.counts
  }
  const endedEarly = [...files].filter((file) => !finished.has(file)).toSorted((a, b) => a.localeCompare(b))
  yield JSON.stringify({ counts, skipped, todo, endedEarly })
}

/** node:test marks a test with `true` or with the reason; the reason may be empty. */
const isMarked = (mark) => mark !== undefined && mark !== false

const withReason = (name, reason) => (typeof reason === 'string' && reason !== '' ? `${name} (${reason})` : name)
