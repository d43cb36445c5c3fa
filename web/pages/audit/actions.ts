const signIn = [
  'sign_in',
  'sign_in_failed',
  'sign_out',
  'session_ended',
  'session_expired',
  'session_revoked',
  'session_unknown',
  'provider_logout_failed',
]
const people = [
  'people_listed',
  'person_read',
  'person_created',
  'person_disabled',
  'person_enabled',
  'role_changed',
  'person_renamed',
  'person_deleted',
  'email_changed',
  'identity_added',
  'password_set',
  'password_changed',
  'password_reset',
  'password_removed',
  'password_guessed',
  'identity_removed',
  'passkey_added',
  'passkey_renamed',
  'passkey_removed',
  'passkey_counter_refused',
  'totp_set_up',
  'totp_removed',
  'phone_verified',
  'phone_removed',
  'recovery_codes_created',
  'recovery_code_used',
  'second_factor_guessing',
  'factors_reset',
  'person_invited',
  'invitation_resent',
  'invitation_withdrawn',
  'invitation_removed',
  'invitation_accepted',
]
const looks = [
  'access_denied',
  'audit_read',
  'audit_verified',
  'clients_listed',
  'records_searched',
  'revisions_read',
  'activity_read',
]
const clients = ['read', 'created', 'imported', 'changed', 'assigned', 'removed', 'restored'].map(
  (did) => `client_${did}`,
)
const items = ['note', 'dispute', 'letter'].flatMap((noun) => [
  `${noun}s_listed`,
  ...['read', 'created', 'changed', 'archived', 'restored'].map((did) => `${noun}_${did}`),
])
const letters = ['approved', 'sent', 'version_created', 'exported'].map((did) => `letter_${did}`)
const billing = [
  'accounts_listed',
  ...[
    'read',
    'created',
    'renamed',
    'credited',
    'limits_changed',
    'own_changed',
    'closed',
    'credit_listed',
    'keys_listed',
    'alerts_listed',
    'alert_created',
    'alert_removed',
    'alert_tested',
    'alert_attempts_listed',
  ].map((did) => `account_${did}`),
  ...['created', 'rotated', 'revoked'].map((did) => `key_${did}`),
  'models_listed',
  'usage_read',
  'requests_read',
  'price_set',
]

/** The actions by which the audit log can be filtered, as they are stored. */
export const actions = [...signIn, ...people, ...billing, ...looks, ...clients, ...items, ...letters]
