import { Link } from 'react-router'
import type { ListedInvoice } from '../../../src/invoicing/schema.ts'

/** The client or the account that pays, with a link to its page. */
export function Payer({ payer: { kind, id, name } }: Pick<ListedInvoice, 'payer'>) {
  return <Link to={`/${kind === 'client' ? 'clients' : 'accounts'}/${id}`}>{name}</Link>
}
