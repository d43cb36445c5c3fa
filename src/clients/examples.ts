import type { ExampleValues } from '../platform/http/examples.ts'

const client = '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11'
const note = '0199d2f5-1c04-7b1e-8f3a-5d2e9c7b4a60'
const letter = '0199d2f6-52aa-7d10-b2c4-91e0f3a86d27'
const daniel = '0199c3aa-0f6e-7a52-8d91-4be7c2f01d35'

/** A client of the demo's fictional firm, for the documentation. */
export const recordExamples = {
  'Client records': {
    client,
    item: note,
    id: client,
    name: 'Harbour Lane Bakery',
    reference: 'PA-1031',
    email: 'accounts@harbourlane.example',
    address: '4 Harbour Lane\nPenhallow\nTR1 4QZ',
    'consultant.id': daniel,
    'consultant.name': 'Daniel Osei',
    consultant_id: daniel,
    'created_by.id': daniel,
    'created_by.name': 'Daniel Osei',
    'updated_by.id': daniel,
    'updated_by.name': 'Daniel Osei',
    'approved_by.id': daniel,
    'approved_by.name': 'Daniel Osei',
    'by.id': daniel,
    'by.name': 'Daniel Osei',
    next: null,
    'If-Match': '"1"',

    'createClient.request': {
      name: 'Harbour Lane Bakery',
      reference: 'PA-1031',
      email: 'accounts@harbourlane.example',
    },
    'changeClient.request': { email: 'office@harbourlane.example' },

    'handOverClients.request': { clients: [{ id: client, version: 3 }], to: daniel },
    handed_over: 1,

    'notes.id': note,
    'createNote.response.id': note,
    'readNote.response.id': note,
    'changeNote.response.id': note,
    date: '2026-03-12',
    participants: ['Maria Lopes', 'Daniel Osei'],
    text: 'Maria confirmed the fee of 1,250.00 and asked for the accounts by 30 April.',
    'changeNote.request': { participants: ['Maria Lopes', 'Daniel Osei', 'Ruth Penhallow'] },

    invoice: 'PA-2026-0117',
    invoice_id: null,
    amount: '1250.00',
    currency: 'GBP',
    due: '2026-03-26',
    position: 'The client disputes two hours of advice in January. We have sent the time sheet.',
    'changeDispute.request': { status: 'settled' },

    minutes: 90,
    rate: '180.00',
    billable: true,
    tax: 'standard',
    'createTimeEntry.request': { date: '2026-03-12', minutes: 90, text: 'Advice on the lease' },
    'changeTimeEntry.request': { minutes: 75 },
    'timeEntry.text': 'Advice on the lease',
    'timeEntry.amount': '270.00',
    'createExpense.request': { date: '2026-03-12', amount: '34.50', text: 'Train to Penhallow' },
    'changeExpense.request': { tax: 'standard' },
    'expense.text': 'Train to Penhallow',
    'expense.amount': '34.50',

    subject: 'Our meeting on 12 March',
    body: 'Dear Maria,\n\nThank you for your time on Thursday.',
    cost: '0.000257',
    generated: true,
    previous_id: null,
    approved_at: null,
    sent_at: null,
    archived_at: null,
    approved_by: null,
    'changeLetter.request': { status: 'approved' },
    'letters.id': letter,
    'createLetter.response.id': letter,

    data: { date: '2026-03-12', participants: ['Maria Lopes'], text: 'Maria confirmed the fee.' },
    archived: false,
    action: 'note_changed',
    noun: 'note',
    noun_id: note,
    version: 2,
    fields: ['text'],
    title: 'Harbour Lane Bakery',
    'activity.title': '2026-03-12',
    'results.client': { id: client, name: 'Harbour Lane Bakery' },
    snippet: '12 March: the accounts of the \uE000bakery\uE001',
  },
} satisfies ExampleValues
