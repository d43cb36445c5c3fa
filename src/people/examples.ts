import type { ExampleValues } from '../platform/http/examples.ts'

/** People and clients of the demo's fictional firm, for the documentation. */
export const peopleExamples = {
  People: {
    name: 'Daniel Osei',
    email: 'daniel@example.com',
    'invited_by.name': 'Ruth Penhallow',
    'clients.name': 'Harbour Lane Bakery',
    'clients.reference': 'PA-1031',
    conflicts: [],
    to: '0199c3aa-0f6e-7a52-8d91-4be7c2f01d35',
    link: 'https://tollgate.example.com/signin/invitation#Q2hhbmdlIG1lIGJlZm9yZSB1c2U',
    'changePerson.request': { role: 'partner' },
  },
} satisfies ExampleValues
