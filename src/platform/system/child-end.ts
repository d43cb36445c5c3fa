import type { ChildProcess } from 'node:child_process'

/**
 * Resolves when the process has ended, with the signal, the exit status (`exit status 1`) or why it could not be started.
 * Never rejects.
 */
export function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit status ${code}`))
    // If the process could not be started, there is no `exit`.
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(error.message)
    })
  })
}
