import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createConfigFolder, faultsOf } from '../../tests/support/config.ts'
import { invoiceSettings, numberSeries } from './settings.ts'

const { load } = createConfigFolder()
const withTax = (...taxes: readonly string[]) => load(`invoicing: { tax: [${taxes.join(', ')}] }`)

describe('taxes', () => {
  test('have their rates in hundredths of a per cent, and the first is the default', () => {
    const { taxes } = invoiceSettings(
      withTax('{ id: standard, category: S, rate: "8.1" }', '{ id: none, category: E, reason: Exempt }'),
    )
    assert.deepEqual(
      [...taxes],
      [
        ['standard', { category: 'S', rate: 810, reason: null }],
        ['none', { category: 'E', rate: 0, reason: 'Exempt' }],
      ],
    )
  })

  test('default to none, with the reason that every invoice must then state', () => {
    assert.deepEqual(
      [...invoiceSettings(load('')).taxes.values()],
      [{ category: 'O', rate: 0, reason: 'Not subject to tax' }],
    )
  })

  test('that EN 16931 does not allow are refused', () => {
    const faults = [
      ['{ id: a, category: S }', 'rate: must be above 0 for the category S'],
      ['{ id: a, category: E, rate: "1", reason: r }', 'rate: must be 0 for the category E'],
      ['{ id: a, category: AE }', 'reason: is missing: the category AE needs one'],
      ['{ id: a, category: S, rate: "19", reason: r }', 'reason: must not be set for the category S'],
      ['{ id: a, category: Z, reason: r }', 'reason: must not be set for the category Z'],
    ] as const
    for (const [tax, fault] of faults) {
      assert.deepEqual(
        faultsOf(() => withTax(tax)),
        [`invoicing.tax[0].${fault}`],
      )
    }
    assert.deepEqual(
      faultsOf(() => withTax('{ id: a, category: Z }', '{ id: a, category: Z }')),
      ['invoicing.tax[1].id: must differ from invoicing.tax[0].id: both are a'],
    )
  })
})

test('the address of the firm, to which payers reply, must be one', () => {
  assert.equal(load('firm: { email: office@berg.example }').firm.email, 'office@berg.example')
  for (const email of ['office', 'office@', 'Berg <office@berg.example>', 'a@b, c@d']) {
    const fault = 'firm.email: must be an email address such as office@example.com'
    assert.deepEqual(
      faultsOf(() => load(`firm: { email: "${email}" }`)),
      [fault],
    )
  }
})

test('reminders need a mail server, which a demo has', () => {
  const settings = 'invoicing: { reminders: [7] }'
  for (const [yaml, environment] of [
    [settings, { TOLLGATE_DEMO: '0' }],
    [settings, { DATABASE_URL: 'postgres://a@db.example/a' }],
    [`{ base_url: "https://tollgate.example.com", ${settings} }`, {}],
  ] as const) {
    assert.deepEqual(
      faultsOf(() => load(yaml, environment)),
      ['invoicing.reminders: must not be set without mail, by which they are sent'],
    )
  }
  assert.deepEqual(load(settings).invoicing.reminders, [7])
  const mail = 'mail: { url: "smtp://mail.example", from: a@firm.example }'
  assert.deepEqual(load(`{ ${mail}, ${settings} }`).invoicing.reminders, [7])
})

test('a run that issues needs the name of the firm', () => {
  assert.deepEqual(
    faultsOf(() => load('invoicing: { run: issue }')),
    ['invoicing.run: must not be issue without firm.name, which every invoice must state'],
  )
  assert.equal(load('invoicing: { run: draft, run_day: 28 }').invoicing.run_day, 28)
  assert.equal(faultsOf(() => load('invoicing: { run_day: 29 }')).length, 1)
})

describe('numbers', () => {
  test('are in a series for each year, or in one for all', () => {
    assert.deepEqual(numberSeries('INV-{year}-{number:4}', 2030), { name: 'INV-2030-{number}', digits: 4 })
    assert.deepEqual(numberSeries('{number}', 2030), { name: '{number}', digits: 1 })
    assert.deepEqual(numberSeries('{number:6}/{year}', 2030), { name: '{number}/2030', digits: 6 })
  })
})

test('the seller is the firm, which holds its own account', () => {
  const { seller } = invoiceSettings(
    load(
      '{ firm: { name: Berg, address: [High Street] }, invoicing: { bank: { iban: GB82 WEST 1234 5698 7654 32 } } }',
    ),
  )
  assert.deepEqual(seller, {
    name: 'Berg',
    address: ['High Street'],
    email: null,
    phone: null,
    website: null,
    tax_number: null,
    bank: { name: 'Berg', iban: 'GB82WEST12345698765432', bic: null },
    country: 'GB',
    locale: 'en-GB',
  })
  assert.equal(invoiceSettings(load('{ firm: { name: Berg, locale: de-AT } }')).seller?.country, 'AT')
  assert.equal(invoiceSettings(load('{ firm: { name: Berg, country: CH, locale: de-AT } }')).seller?.country, 'CH')
  assert.deepEqual(
    faultsOf(() => load('{ firm: { country: XY } }')),
    ['firm.country: must be the code of a country such as GB'],
  )
  assert.equal(invoiceSettings(load('')).seller, undefined)
})
