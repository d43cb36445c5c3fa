import type { ExampleValues } from '../platform/http/examples.ts'

const attempt = 'TqC4mZ8sN1yVbR7kE2wXhA'
const codes = ['7KQ2-M9XD', 'T4WN-6RHB']
const address = 'ruth@example.com'
const password = 'a long phrase that nobody guesses'

/** Requests and responses of a person in the demo's fictional firm, for the documentation. */
export const signInExamples = {
  'Sign-in': {
    '*': 'email-link',
    'startSignIn.*': 'demo',
    'providerLogout.*': 'demo',
    providers: [{ id: 'demo', name: 'Penhallow Advisory' }],
    credentials: [{ id: 'email-link', name: 'Email' }],
    second_factors: [],
    enrol: [],
    return_to: '/clients',
    location: '/clients',
    'inspectInvitation.response.password': { minimum_length: 15, only_way: true },
    attempt,
    token: 'Q2hhbmdlIG1lIGJlZm9yZSB1c2U',
    input: { code: '123456' },
    'startCredentialSignIn.request': { return_to: '/clients', input: { email: address } },
    'startEnrolment.request': { factor: 'totp' },
    'startCredentialSignIn.response.challenge': {},
    challenge: { digits: 6 },
    factor: 'totp',
    recovery_codes: codes,
    address,
    email: address,
    name: 'Ruth Penhallow',
    device: 'Firefox on Windows',
    password,
  },
  Account: {
    id: '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11',
    'startOwnFactor.id': 'totp',
    'completeOwnFactor.id': 'totp',
    'removeOwnFactor.id': 'totp',
    'person.name': 'Ruth Penhallow',
    'person.email': address,
    method: 'email-link',
    method_name: 'Email',
    'sessions.factors': ['totp'],
    'sign_ins.current': true,
    device: 'Firefox on Windows',
    address: '192.0.2.0',
    methods: [{ id: 'email-link', name: 'Email' }],
    factors: [{ id: 'totp', name: 'Authenticator app', set_up: true }],
    name: 'Work laptop',
    'identities.name': 'Penhallow Advisory',
    issuer: 'https://login.example.com',
    subject: '5f1c2d',
    unlinked: [],
    'startOwnFactor.request': {},
    'completeOwnFactor.request': { input: { code: '123456' } },
    challenge: {
      secret: 'JBSWY3DPEHPK3PXP',
      uri: 'otpauth://totp/Tollgate:ruth%40example.com?secret=JBSWY3DPEHPK3PXP',
    },
    recovery_codes: codes,
    current: true,
    'changePassword.request': { current: 'the phrase before', password },
  },
} satisfies ExampleValues
