/** How rows of a sealed table are numbered, and how a finding names them: label → column. */
export interface Chain {
  readonly name: string
  readonly number: 'number' | 'id'
  readonly naming: Readonly<Record<string, string>>
  /** The SQL function of a range of rows whose result is the checksum in each seal. */
  readonly checksum?: 'ledger_checksum'
}

/** Every append-only table. A new one needs an entry here and a row in `seal_chain`. */
export const chains: readonly Chain[] = [
  {
    name: 'ledger',
    number: 'number',
    naming: { request: 'request_id', account: 'account_id' },
    checksum: 'ledger_checksum',
  },
  { name: 'credit_entry', number: 'number', naming: { entry: 'id', account: 'account_id' } },
  { name: 'price', number: 'number', naming: { model: 'model', valid_from: 'valid_from' } },
  { name: 'key_issue', number: 'number', naming: { key: 'key_id', account: 'account_id' } },
  { name: 'revision', number: 'number', naming: { noun: 'noun', id: 'noun_id', version: 'version' } },
  { name: 'invoice_issue', number: 'number', naming: { invoice: 'invoice_id' } },
  { name: 'invoice_payment', number: 'number', naming: { payment: 'id', invoice: 'invoice_id' } },
  { name: 'invoice_mail', number: 'number', naming: { mail: 'id', invoice: 'invoice_id' } },
  { name: 'erased_client', number: 'number', naming: { client: 'client_id', at: 'at' } },
  { name: 'recorded_change', number: 'number', naming: { changed: 'table_name', id: 'row_key' } },
  { name: 'audit', number: 'id', naming: { at: 'at', action: 'action' } },
]
