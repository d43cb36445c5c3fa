import type { ExampleValues } from '../platform/http/examples.ts'

const account = '0199c3b1-6d20-7f3e-a1c8-52e7d90b4f16'

/** An account with a key, for the documentation. */
export const accountExamples = {
  'Accounts and keys': {
    account,
    id: account,
    name: 'Acme',
    credit: '25.00',
    monthly_limit: null,
    credit_left: '24.1873',
    billing_name: 'Acme Ltd',
    billing_address: '7 Quay Street\nBristol',
    billing_tax_number: null,
    billing_email: 'billing@acme.example',
    held: '0',
    credited: '25',
    charged: '0.8127',
    month_charged: '0.8127',
    currency: 'GBP',
    closed_at: null,
    own: false,
    requests_per_minute: 60,
    tokens_per_minute: 100_000,
    'If-Match': '"1"',
    'createAccount.request': { name: 'Acme', credit: '25.00' },
    'changeAccount.request': { requests_per_minute: 120 },

    amount: '25.00',
    note: 'Invoice 2026-031',
    next: null,

    'keys.name': 'backend',
    'createKey.request': { name: 'backend', allowed_models: ['default'] },
    'createKey.response.name': 'backend',
    'rotateKey.response.name': 'backend',
    public_id: '4XkQ7mZp9RtB',
    person_id: null,
    allowed_models: ['default'],
    'rotateKey.key': '0199c3b2-1f47-7c0a-93d5-0b6e84a2c719',
    'revokeKey.key': '0199c3b2-1f47-7c0a-93d5-0b6e84a2c719',
    key: 'tg_4XkQ7mZp9RtB…',
    expires_at: null,
    revoked_at: null,
    replaced_by: null,
    overlap_seconds: 86_400,
    'models.name': 'default',
    alias_of: 'tiny',
    base_url: 'https://tollgate.example.com',
  },
} satisfies ExampleValues
