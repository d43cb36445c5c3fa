import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { unzipSync } from 'fflate'
import { startFirm } from '../support/firm.ts'
import { addPastUsage } from '../support/past-usage.ts'

const any = { 'if-match': '*' }
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

/** With its byte order mark, which a TextDecoder removes. */
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()

/** A firm of this locale, with something in every file that it exports. */
async function firmIn(locale: string) {
  const firm = await startFirm({
    currency: 'EUR',
    firm: { name: 'Berg', locale },
    invoicing: { tax: [{ id: 'reduced', category: 'S', rate: '5.5' }] },
  })
  after(() => firm.close())
  const paula = await firm.join('Paula', 'partner')
  const client = await firm.client(paula, '=Müller; , -5')
  const payer = await firm.service.customer({ name: '@Söhne' })
  await addPastUsage(firm.service.database, payer, [
    { day: yesterday, model: 'fast', input: 1, output: 1, prices: [250_000_000_000n, 1_000_000_000_000n], client },
  ])
  const make = async (address: string, body?: object) => {
    const answer = await paula.send('POST', address, body, any)
    assert.ok([200, 201].includes(answer.status), answer.text)
    return String(answer.json['id'])
  }
  await make(`/clients/${client}/expenses`, { date: yesterday, amount: '1234.5', text: 'Train' })
  const lines = [{ text: 'Advice', quantity: '1', unit: 'hour', unit_price: '765.44' }]
  const invoice = await make('/invoices', { client, lines })
  await make(`/invoices/${invoice}/issue`)
  const bytes = async (address: string): Promise<Uint8Array> => {
    const response = await fetch(firm.service.url + address, { headers: { cookie: paula.cookie } })
    assert.equal(response.status, 200, address)
    return new Uint8Array(await response.arrayBuffer())
  }
  return {
    client,
    /** Each file that the portal exports, by its address. */
    async files(): Promise<Record<string, string>> {
      const addresses = [
        '/audit?format=csv',
        '/usage?format=csv',
        '/usage/requests?format=csv',
        '/invoices.csv?from=2020-01-01&to=2099-12-31',
        '/invoices/unbilled.csv',
        '/invoices/report.csv?of=ageing',
        '/invoices/report.csv?of=turnover',
      ]
      const found = await Promise.all(
        addresses.map(async (address) => [address, textOf(await bytes(address))] as const),
      )
      const whole = unzipSync(await bytes(`/clients/${client}/export`))
      return { ...Object.fromEntries(found), 'audit.csv': textOf(whole['audit.csv'] ?? new Uint8Array()) }
    },
  }
}

describe('the files that a spreadsheet opens', () => {
  for (const [locale, separator, mark, name] of [
    ['de-DE', ';', ',', `"'=Müller; ,' -5"`],
    ['en-GB', ',', '.', `"'=Müller; , -5"`],
  ] as const) {
    test(`have the marks of ${locale}, and no name is a formula`, async () => {
      const firm = await firmIn(locale)
      const files = await firm.files()
      const line = (address: string, ...cells: string[]) => {
        const expected = cells.join(separator)
        assert.ok(files[address]?.includes(expected), `${address}: ${expected} is not in ${files[address]}`)
      }
      for (const [address, text] of Object.entries(files)) {
        assert.match(text, new RegExp(`^\uFEFF[a-z_]+${separator}[a-z_]+`), address)
        assert.equal(text.lastIndexOf('\uFEFF'), 0, address)
        assert.doesNotMatch(text, /(?:^|[,;])"?[=@]/m, address)
      }
      line('/usage?format=csv', 'fast', '1', '1', '1', `1${mark}25`)
      line('/invoices.csv?from=2020-01-01&to=2099-12-31', 'EUR', 'S', `5${mark}5`, `765${mark}44`, `42${mark}10`)
      line('/invoices/unbilled.csv', name, firm.client, '', '1', yesterday, `1234${mark}50`, 'EUR')
      line('/invoices/report.csv?of=ageing', name, 'client', firm.client, 'EUR', `807${mark}54`)
      line('/invoices/report.csv?of=turnover', 'EUR', `765${mark}44`, `0${mark}00`, `765${mark}44`)
      line('/audit?format=csv', firm.client, name)
      line('audit.csv', firm.client, name)
    })
  }
})
