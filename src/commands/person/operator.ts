import { userInfo } from 'node:os'
import type { Visit } from '../../access/actor.ts'

/** The command line as the audit log records it: with the name of the operating-system user. */
export function operator(): Visit {
  return { actor: { kind: 'command', user: userName() } }
}

/** A container may run under a user that has no entry in /etc/passwd. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
