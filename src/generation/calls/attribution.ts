import type { Caller } from '../../accounts/keys/keys.ts'
import { Problem } from '../../platform/problems.ts'

/** Whether a client with this id exists and is not deleted. */
export type IsClient = (id: string) => Promise<boolean>

const field = 'metadata.client_id'

/**
 * Checks that the caller may attribute a cost to this client: only the firm's own accounts may, and only to clients that
 * exist. Throws Problem `invalid_field`. Other accounts learn nothing about the client.
 */
export async function checkAttribution({ own }: Caller, clientId: string, isClient: IsClient): Promise<void> {
  if (!own) {
    const reason = `The field ${field} is only for accounts that the firm has marked as its own. Omit it, or have the firm mark this account.`
    throw new Problem('invalid_field', reason, { field })
  }
  if (!(await isClient(clientId))) {
    throw new Problem('invalid_field', `No client has the id in the field ${field}.`, { field })
  }
}
