import type { ExampleValues } from '../platform/http/examples.ts'

const daniel = '0199c3aa-0f6e-7a52-8d91-4be7c2f01d35'
const harbourLane = {
  id: '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11',
  name: 'Harbour Lane Bakery',
  consultant: { id: daniel, name: 'Daniel Osei' },
}

/** A morning of the demo's fictional firm, for the documentation. */
export const overviewExamples = {
  Overview: {
    since: '2026-03-11',
    currency: 'GBP',
    client: harbourLane,
    noun: 'note',
    title: '2026-03-12',
    actions: ['note_created', 'note_changed'],
    by: [{ id: daniel, name: 'Daniel Osei' }],
    status: 'active',
    more: false,
    updated_by: { id: daniel, name: 'Daniel Osei' },
    subject: 'Our meeting on 12 March',
    invoice: 'PA-2026-0117',
    amount: '1250.00',
    due: '2026-03-26',
    name: 'Drafting',
    own: true,
    credit_left: '18.40',
    monthly_limit: null,
    used_percent: 26,
    cost: '0.4213',
    requests: 38,
    day: '2026-03-11',
    invoices: 2,
    oldest: '2026-02-14',
  },
} satisfies ExampleValues
