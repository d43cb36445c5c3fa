import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { localeIn } from '../../platform/text/languages.ts'
import { postalAddress } from './buyer-place.ts'
import type { DraftHead } from '../changes-store.ts'
import { readPayer } from './options-store.ts'
import type { InvoiceSettings } from '../settings.ts'

/** What a draft copies from the record of its client: a later change of the record does not change the draft. */
export type ClientDetails = Pick<
  DraftHead,
  'buyerAddress' | 'buyerPlace' | 'buyerTaxNumber' | 'buyerReference' | 'orderNumber' | 'daysToPay' | 'language'
>

export const noDetails: ClientDetails = {
  buyerAddress: null,
  buyerPlace: null,
  buyerTaxNumber: null,
  buyerReference: null,
  orderNumber: null,
  daysToPay: null,
  language: null,
}

/** Without billing details of an address, the draft has none, and follows the postal address of the client. */
export async function readClientDetails(
  { access, settings }: { readonly access: RecordAccess; readonly settings: InvoiceSettings },
  visit: Visit,
  clientId: string,
): Promise<ClientDetails> {
  const [[client]] = await access.as(visit, [readPayer('client', clientId)])
  if (client === undefined) return noDetails
  const locale = localeIn(client.language, settings.locale)
  const buyerAddress = client.buyer_place && postalAddress(client.buyer_place, { ...settings, locale })
  return {
    buyerAddress,
    buyerPlace: buyerAddress === null ? null : client.buyer_place,
    buyerTaxNumber: client.buyer_tax_number,
    buyerReference: client.buyer_reference,
    orderNumber: client.order_number,
    daysToPay: client.days_to_pay,
    language: client.language,
  }
}
