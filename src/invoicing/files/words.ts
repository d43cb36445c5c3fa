import type { InvoiceLine } from '../document.ts'
import type { Unit } from '../schema.ts'

/** The words of an invoice. Numbers, amounts and dates are formatted. */
interface InvoiceWords {
  readonly invoice: string
  readonly creditNote: string
  readonly draft: string
  readonly date: string
  readonly due: string
  readonly period: string
  readonly supply: string
  readonly corrects: string
  readonly buyerTaxNumber: string
  readonly buyerReference: string
  readonly orderNumber: string
  readonly sellerTaxNumber: string
  readonly text: string
  readonly quantity: string
  readonly price: string
  readonly tax: string
  readonly amount: (currency: string) => string
  readonly unit: (quantity: string, unit: Unit) => string
  readonly pricePer: (price: string, unit: Unit) => string
  readonly net: string
  readonly taxed: (rate: string, net: string) => string
  readonly untaxed: (reason: string, net: string) => string
  readonly total: string
  readonly rounded: (rounding: string) => string
  readonly request: (amount: string, day: string, number: string) => string
  readonly holder: string
  readonly reference: string
  readonly code: string
  /** The text of a line for usage, after the model. */
  readonly usage: Readonly<Record<NonNullable<InvoiceLine['direction']>, string>>
  readonly letters: (month: string) => string
}

/** A quantity in its unit, which has a plural if it is two words. Tokens are counted one by one. */
const counted =
  (units: Readonly<Record<Unit, string>>) =>
  (quantity: string, unit: Unit): string => {
    const [one = '', many = one] = units[unit].split(' ')
    return `${quantity}\u00a0${quantity === '1' ? one : many}`
  }
/** A price; of tokens, for a million, of minutes, for an hour, and of images and searches, for a thousand. */
const priced =
  (per: Readonly<Partial<Record<Unit, string>>>) =>
  (price: string, unit: Unit): string =>
    per[unit] === undefined ? price : `${price}\u00a0${per[unit]}`

const english: InvoiceWords = {
  invoice: 'Invoice',
  creditNote: 'Credit note',
  draft: 'Draft',
  date: 'Date',
  due: 'Due',
  period: 'Period',
  supply: 'Date of supply',
  corrects: 'Corrects invoice',
  buyerTaxNumber: 'Your tax number',
  buyerReference: 'Your reference',
  orderNumber: 'Your order',
  sellerTaxNumber: 'Tax number',
  text: 'Description',
  quantity: 'Quantity',
  price: 'Price',
  tax: 'Tax',
  amount: (currency) => `Amount in ${currency}`,
  unit: counted({
    hour: 'h',
    day: 'day days',
    month: 'month months',
    piece: 'piece pieces',
    kilometre: 'km',
    million_tokens: 'token tokens',
    minute: 'min',
    lump_sum: 'flat\u00a0fee flat\u00a0fees',
    thousand_uses: 'piece pieces',
  }),
  pricePer: priced({ million_tokens: 'per million', minute: 'per h', thousand_uses: 'per thousand' }),
  net: 'Net',
  taxed: (rate, net) => `Tax ${rate} on ${net}`,
  untaxed: (reason, net) => `${reason}, on ${net}`,
  total: 'Total',
  rounded: (rounding) => `The net amount contains ${rounding} of rounding.`,
  request: (amount, day, number) => `Please pay ${amount} by ${day}, with the reference ${number}.`,
  holder: 'Account holder',
  reference: 'Reference',
  code: 'QR code for banking apps',
  usage: {
    input: 'input tokens',
    cached_input: 'cached input tokens',
    cache_write: 'cache write tokens',
    cache_write_1h: 'cache write tokens, kept for an hour',
    image: 'images',
    web_search: 'web searches',
    output: 'output tokens',
  },
  letters: (month) => `Drafting of letters, ${month}`,
}

const german: InvoiceWords = {
  invoice: 'Rechnung',
  creditNote: 'Rechnungskorrektur',
  draft: 'Entwurf',
  date: 'Datum',
  due: 'Fällig am',
  period: 'Zeitraum',
  supply: 'Leistungsdatum',
  corrects: 'Zur Rechnung',
  buyerTaxNumber: 'Ihre Steuernummer',
  buyerReference: 'Ihre Referenz',
  orderNumber: 'Ihre Bestellung',
  sellerTaxNumber: 'Steuernummer',
  text: 'Leistung',
  quantity: 'Menge',
  price: 'Einzelpreis',
  tax: 'Steuer',
  amount: (currency) => `Betrag in ${currency}`,
  unit: counted({
    hour: 'Std.',
    day: 'Tag Tage',
    month: 'Monat Monate',
    piece: 'Stück',
    kilometre: 'km',
    million_tokens: 'Token',
    minute: 'Min.',
    lump_sum: 'Pauschale Pauschalen',
    thousand_uses: 'Stück',
  }),
  pricePer: priced({ million_tokens: 'je Mio.', minute: 'je Std.', thousand_uses: 'je Tsd.' }),
  net: 'Netto',
  taxed: (rate, net) => `${rate} Steuer auf ${net}`,
  untaxed: (reason, net) => `${reason}, auf ${net}`,
  total: 'Gesamtbetrag',
  rounded: (rounding) => `Der Nettobetrag enthält ${rounding} aus der Rundung der Positionen.`,
  request: (amount, day, number) => `Bitte überweisen Sie ${amount} bis zum ${day} mit der Angabe ${number}.`,
  holder: 'Kontoinhaber',
  reference: 'Verwendungszweck',
  code: 'QR-Code für Banking-Apps',
  usage: {
    input: 'Eingabe-Token',
    cached_input: 'Eingabe-Token aus dem Cache',
    cache_write: 'in den Cache geschriebene Token',
    cache_write_1h: 'für eine Stunde in den Cache geschriebene Token',
    image: 'Bilder',
    web_search: 'Websuchen',
    output: 'Ausgabe-Token',
  },
  letters: (month) => `Entwürfe von Briefen, ${month}`,
}

const french: InvoiceWords = {
  invoice: 'Facture',
  creditNote: 'Avoir',
  draft: 'Brouillon',
  date: 'Date',
  due: 'Échéance',
  period: 'Période',
  supply: 'Date de la prestation',
  corrects: 'Concerne la facture',
  buyerTaxNumber: 'Votre numéro fiscal',
  buyerReference: 'Votre référence',
  orderNumber: 'Votre commande',
  sellerTaxNumber: 'Numéro fiscal',
  text: 'Désignation',
  quantity: 'Quantité',
  price: 'Prix unitaire',
  tax: 'Taxe',
  amount: (currency) => `Montant en ${currency}`,
  unit: counted({
    hour: 'h',
    day: 'jour jours',
    month: 'mois',
    piece: 'unité unités',
    kilometre: 'km',
    million_tokens: 'jeton jetons',
    minute: 'min',
    lump_sum: 'forfait forfaits',
    thousand_uses: 'unité unités',
  }),
  pricePer: priced({ million_tokens: 'par million', minute: 'par h', thousand_uses: 'par millier' }),
  net: 'Total hors taxe',
  taxed: (rate, net) => `Taxe ${rate} sur ${net}`,
  untaxed: (reason, net) => `${reason}, sur ${net}`,
  total: 'Total TTC',
  rounded: (rounding) => `Le total hors taxe comprend ${rounding} d’arrondi.`,
  request: (amount, day, number) => `Merci de régler ${amount} au plus tard le ${day}, avec la référence ${number}.`,
  holder: 'Titulaire du compte',
  reference: 'Référence',
  code: 'Code QR de virement',
  usage: {
    input: 'jetons d’entrée',
    cached_input: 'jetons d’entrée lus en cache',
    cache_write: 'jetons écrits en cache',
    cache_write_1h: 'jetons écrits en cache pour une heure',
    image: 'images',
    web_search: 'recherches sur le web',
    output: 'jetons de sortie',
  },
  letters: (month) => `Rédaction de lettres, ${month}`,
}

const languages: Readonly<Record<string, InvoiceWords>> = { en: english, de: german, fr: french }

/** The words for a locale such as `de-AT`: English, unless its language is German or French. */
export function invoiceWords(locale: string): InvoiceWords {
  return languages[new Intl.Locale(locale).language] ?? english
}
