import type { ChildProcess } from 'node:child_process'

/**
 * Resolves when the process is gone, with how it ended: `SIGKILL`, `exit status 1`, or why it could not be started. Never
 * rejects.
 */
export function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit status ${code}`))
    // Alone, it means that there is no process; after that there is no `exit`.
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(error.message)
    })
  })
}
