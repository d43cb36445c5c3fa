import type { Visit } from '../../access/actor.ts'

/**
 * The part of a statement that inserts an audit event for each row of its `changed`, which has `client_id`, `id` and
 * `version`, and returns a row with `done` for each. The actor comes from the transaction. The parameters from number
 * `from` on are `loggedValues`.
 */
export function logged(noun: string, action: string, from: number): string {
  return `insert into audit (action, outcome, client_id, noun, noun_id, request_id, address, details)
    select ${action}, 'allowed', changed.client_id, '${noun}', changed.id, $${from}::text,
      $${from + 1}::text, jsonb_build_object('version', changed.version::text, 'fields', $${from + 2}::text)
    from changed returning true as done`
}

export function loggedValues({ requestId, address }: Visit, fields: readonly string[]): (string | undefined)[] {
  return [requestId, address, fields.join(' ')]
}
