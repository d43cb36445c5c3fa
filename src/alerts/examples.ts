import type { ExampleValues } from '../platform/http/examples.ts'

const alert = '0199c3b4-52d1-7e08-b6f3-7a91c05d2e84'

/** Alerts of an account, for the documentation. */
export const alertExamples = {
  Alerts: {
    account: '0199c3b1-6d20-7f3e-a1c8-52e7d90b4f16',
    alert,
    alert_id: alert,
    shares: [50, 80, 100],
    email: null,
    webhook: 'https://hooks.example.com/tollgate',
    'createAlert.request': { shares: [50, 80, 100], webhook: 'https://hooks.example.com/tollgate' },
    secret: 'wN3v0mZ2…',
    delivery: '5b0f5f0e-3a55-4c1e-9d0a-6b7a3f1d2c48',
    id: '9a1c7f7e-8d1e-4a63-8f5b-2c4d6e8f0a12',
    share: 80,
    outcome: 'failed',
    error: '500',
  },
} satisfies ExampleValues
