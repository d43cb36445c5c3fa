const signIn = ['sign_in', 'sign_in_failed', 'sign_out', 'session_ended', 'session_expired', 'session_revoked']
const people = ['person_created', 'person_disabled', 'person_enabled', 'role_changed', 'email_changed']
const looks = ['access_denied', 'audit_read', 'clients_listed', 'records_searched', 'revisions_read', 'activity_read']
const clients = ['client_read', 'client_created', 'client_changed', 'client_assigned', 'client_removed']
const items = ['note', 'dispute', 'letter'].flatMap((noun) =>
  ['read', 'created', 'changed', 'archived'].map((did) => `${noun}_${did}`),
)

/** What can be looked for in the audit log, as it is written there. */
export const actions = [...signIn, ...people, ...looks, ...clients, ...items]
