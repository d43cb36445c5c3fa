import type { ExampleValues } from '../platform/http/examples.ts'

const client = '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11'
const ruth = '0199c3aa-0f6e-7a52-8d91-4be7c2f01d34'

/** An erasure in the demo's fictional firm, for the documentation. */
export const dataExamples = {
  "A client's data": {
    client,
    reason: 'The engagement ended in 2015.',
    'client.id': client,
    'client.name': 'Harbour Lane Bakery',
    'client.reference': 'PA-1031',
    'scheduled_by.id': ruth,
    'scheduled_by.name': 'Ruth Penhallow',
    performed_at: null,
    total: 1,
  },
} satisfies ExampleValues
