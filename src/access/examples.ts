import type { ExampleValues } from '../platform/http/examples.ts'

const person = '0199c3aa-0f6e-7a52-8d91-4be7c2f01d35'
const client = '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11'

/** An event of the audit log, for the documentation. */
export const auditExamples = {
  'Audit log': {
    'audit.id': '48213',
    action: 'client_read',
    actor: { kind: 'person', id: person, name: 'Daniel Osei' },
    person: { id: person, name: 'Daniel Osei' },
    client: { id: client, name: 'Harbour Lane Bakery' },
    noun: 'client',
    noun_id: client,
    request_id: '0199d2f7-0a3c-7e44-9c18-6b5d2f90e713',
    address: '192.0.2.0',
    details: {},
    next: null,
    ok: true,
    rows: 48213,
    last_seal: `audit:1740:48213:${'5080aae6'.repeat(8)}`,
    'checks.name': 'the seals of audit are one chain',
    read: null,
    faults: [],
  },
} satisfies ExampleValues
