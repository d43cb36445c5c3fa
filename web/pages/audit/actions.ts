/** What can be looked for in the audit log. */
export const actions = [
  'sign_in',
  'sign_in_failed',
  'sign_out',
  'session_ended',
  'session_revoked',
  'role_changed',
  'person_disabled',
  'client_read',
  'client_changed',
  'client_assigned',
  'access_denied',
]
