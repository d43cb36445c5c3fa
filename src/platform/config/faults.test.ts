import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stringify } from 'yaml'
import { createConfigFolder, faultsOf, provider, upstream } from '../../../tests/support/config.ts'

const { load } = createConfigFolder()

const group = 'must be a group of settings'
const text = 'must be a text that is not empty'
const name = 'must be a name of at most 100 letters, digits and . _ - : /, beginning with a letter or digit'
const duration = 'must be a duration such as 500ms, 30s, 60m or 12h, at most 500h'
const period = 'must be a number of days or years such as 30d or 10y, at most 100y'
const size = 'must be a size such as 64KiB or 1MiB, at most 1GiB'
const database = 'must be embedded, or an address such as postgres://user:password@host:5432/name'
const origin = 'must be an address without a path such as https://tollgate.example.com'
const store =
  'must be database, a folder such as /var/lib/tollgate/documents, or a bucket such as s3://name or s3://name/prefix'
const network = 'must be an IP address or a range such as 10.0.0.0/8'
const perMinute = 'must be a whole number from 1 to 2147483647'
const engine = 'must be one of local, openai, ai-sdk'
const endpoint = 'must be an address such as https://models.example.com/v1'
const issuer = 'must be an address such as https://login.example.com'
const secure = 'must begin with https://; http:// is accepted on loopback addresses only'
const sender = 'must be an address such as tollgate@example.com or Tollgate <tollgate@example.com>'
const mailServer = 'must be an address such as smtp://user:password@mail.example.com:587 or smtps://…'
const tokenizer =
  'must be auto, bytes, o200k_base, cl100k_base, p50k_base, r50k_base, vllm, llama-server, anthropic, or the path of a tokenizer.json'
const percentage = 'must be a percentage such as 2% or 0.5%, at most 100%'
const price = 'must be a decimal number in quotes such as "0.40"'
const invoiceNumber =
  'must be a pattern such as INV-{year}-{number:4}: {number} once, perhaps {year}, and at most 30 letters, digits and - / . _'
const taxRate = 'must be a rate in per cent in quotes such as "19" or "8.1", at most 100, with at most two decimals'
const bankAccount = 'must be an IBAN such as DE89 3704 0044 0532 0130 00'

/** Files and their errors. */
type Case = [yaml: string, ...lines: string[]]

const shapes: Case[] = [
  ['- a', `the configuration ${group}`],
  ['hello', `the configuration ${group}`],
  ['databse: embedded', 'databse: is not a setting; did you mean database?'],
  ['colour: red', 'colour: is not a setting'],
  ['limits: { rpm: 1 }', 'limits.rpm: is not a setting'],
  ['"a b.c": 1', '["a b.c"]: is not a setting'],
  ['__proto__: { demo: true }', '__proto__: is not a setting'],
  ['database:', 'database: is empty: give it a value or remove it'],
  ['mail:', 'mail: is empty: give it a value or remove it'],
  ['listen: 8080', `listen: ${group}`],
  ['listen: { port: "80" }', 'listen.port: must be a whole number from 0 to 65535'],
  ['listen: { trusted_proxies: 10.0.0.1 }', 'listen.trusted_proxies: must be a list'],
  ['sign_in: { passkey: yes }', 'sign_in.passkey: must be true or false'],
  ['firm: { time_zone: Zurich }', 'firm.time_zone: must be a time zone such as Europe/Zurich'],
  ['firm: { locale: english }', 'firm.locale: must be a locale such as en-GB or de-CH'],
  ['firm: { locale: en_GB }', 'firm.locale: must be a locale such as en-GB or de-CH'],
  ['firm: { closing: "" }', `firm.closing: ${text}`],
  ['try_it: {}', `try_it.account: is missing: it ${text}`],
  ['drafting: {}', `drafting.account: is missing: it ${text}`],
  ['limits: { requests_per_minute: 1.5 }', `limits.requests_per_minute: ${perMinute}`],
  ['limits: { requests_per_minute: .nan }', `limits.requests_per_minute: ${perMinute}`],
  ['limits: { requests_per_minute: 0 }', `limits.requests_per_minute: ${perMinute}`],
  ['aliases: [tiny]', 'aliases: must be a group of lines `alias: model id`'],
  ['models: []', 'models: must have at least one entry'],
  ['models: { id: a }', 'models: must be a list'],
  ['models: [tiny]', `models[0]: ${group}`],
  [
    'models: [{ engine: local }]',
    `models[0].id: is missing: it ${name}`,
    'models[0].context: is missing: it must be a whole number from 2 to 100000000',
    'models[0].max_output_tokens: is missing: it must be a whole number from 1 to 100000000',
    `models[0].file: is missing: it ${text}`,
  ],
]

const values: Case[] = [
  ['database: 5', `database: ${database}`],
  ['database: embeded', `database: ${database}`],
  ['database: postgres:db', `database: ${database}`],
  ['currency: euro', 'currency: must be a currency code of three capital letters such as USD'],
  ['limits: { request_bytes: 1000 }', `limits.request_bytes: ${size}`],
  ['limits: { request_bytes: 0MiB }', `limits.request_bytes: ${size}`],
  ['limits: { request_bytes: 2GiB }', `limits.request_bytes: ${size}`],
  ['limits: { request_bytes: 1MB }', `limits.request_bytes: ${size}`],
  ...['databse', 's3://', 's3://Files', 's3://files/../other', 's3://files//a', 'https://files.example.com/a'].map(
    (address): Case => [`documents: { store: "${address}" }`, `documents.store: ${store}`],
  ),
  [
    'documents: { s3: { region: "a b" } }',
    'documents.s3.region: must be a region such as eu-central-1',
    `documents.s3.access_key_id: is missing: it ${text}`,
    `documents.s3.secret_access_key: is missing: it ${text}`,
  ],
  ['session: { idle: 60, absolute: 501h }', `session.idle: ${duration}`, `session.absolute: ${duration}`],
  [
    'retention: { erasure_after: 30, clients: 101y }',
    `retention.erasure_after: ${period}`,
    `retention.clients: ${period}`,
  ],
  ['retention: { clients: 36501d }', `retention.clients: ${period}`],
  ['retention: { clients: 1.5y }', `retention.clients: ${period}`],
  ['session: { idle: 0s }', `session.idle: ${duration}`],
  ['session: { idle: -1s }', `session.idle: ${duration}`],
  ['base_url: https://a.example/tollgate', `base_url: ${origin}`],
  ['base_url: https://a.example?x', `base_url: ${origin}`],
  ['base_url: a.example', `base_url: ${origin}`],
  ['base_url: "https://a.exa\\nmple"', `base_url: ${origin}`],
  ['listen: { host: 1.2.3 }', 'listen.host: must be an IP address or a host name'],
  ['listen: { trusted_proxies: [10.0.0.0/33, all] }', ...[0, 1].map((n) => `listen.trusted_proxies[${n}]: ${network}`)],
  [
    'listen: { trusted_proxies: ["::1/129", 10.0.0.0/] }',
    ...[0, 1].map((n) => `listen.trusted_proxies[${n}]: ${network}`),
  ],
  [
    'sign_in: { sign_up: { domains: ["@example.com", com, "a.example.", "1.2.3.4", "a.example/x"] } }',
    ...[0, 1, 2, 3, 4].map((n) => `sign_in.sign_up.domains[${n}]: must be a domain such as example.com`),
  ],
  ['mail: { url: "http://m", from: "" }', `mail.url: ${mailServer}`, `mail.from: ${sender}`],
  ['mail: { url: "smtp://m", from: "a@b.c, d@e.f" }', `mail.from: ${sender}`],
  ['mail: { url: "smtp://m", from: Tollgate }', `mail.from: ${sender}`],
  ['sms: { url: "http://sms.example/send", token: t }', `sms.url: ${secure}`],
  ...['{year}', 'INV', '{number}-{number}', 'INV {number}', '{number:0}', '{month}-{number}', '{number', ''].map(
    (number): Case => [`invoicing: { number: "${number}" }`, `invoicing.number: ${invoiceNumber}`],
  ),
  ...['200', '100.01', '-1', '8.123', '1e1', '8,1'].map((rate): Case => [
    `invoicing: { tax: [{ id: a, category: S, rate: "${rate}" }] }`,
    `invoicing.tax[0].rate: ${taxRate}`,
  ]),
  ...['1001', '-1', '12.345', '12,5'].map((markup): Case => [
    `invoicing: { markup_percent: "${markup}" }`,
    'invoicing.markup_percent: must be a mark-up in per cent in quotes such as "20" or "12.5", at most 1000, with at most two decimals',
  ]),
  ['invoicing: { tax: [{ id: a, category: X }] }', 'invoicing.tax[0].category: must be one of S, Z, E, AE, K, G, O'],
  ...['DE89 3704 0044 0532 0130 01', 'DE89', 'de89370400440532013000', 'DE89 3704 0044 0532 0130 0é'].map(
    (iban): Case => [`invoicing: { bank: { iban: ${iban} } }`, `invoicing.bank.iban: ${bankAccount}`],
  ),
  [
    'invoicing: { bank: { iban: DE89370400440532013000, bic: ABC } }',
    'invoicing.bank.bic: must be a BIC such as COBADEFFXXX',
  ],
  ['invoicing: { due_days: -1 }', 'invoicing.due_days: must be a whole number from 0 to 365'],
  [upstream({ engine: 'vllm' }), `models[0].engine: ${engine}`],
  [upstream({ engine: 'opnai' }), `models[0].engine: ${engine}; did you mean openai?`],
  [upstream({ engine: undefined }), `models[0].engine: is missing: it ${engine}`],
  [upstream({ file: 'a.gguf' }), 'models[0].file: is not a setting'],
  [upstream({ id: 'a b' }), `models[0].id: ${name}`],
  [upstream({ upstream_model: '' }), `models[0].upstream_model: ${text}`],
  [upstream({ tokenizer: 'o200k' }), `models[0].tokenizer: ${tokenizer}`],
  [upstream({ tokenizer: '' }), `models[0].tokenizer: ${tokenizer}`],
  [upstream({ tokenizer: '.json' }), `models[0].tokenizer: ${tokenizer}`],
  ...['2', '101%', '-1%', '1.234%', 'two'].map((margin): Case => [
    upstream({ tokenizer_margin: margin }),
    `models[0].tokenizer_margin: ${percentage}`,
  ]),
  [upstream({ endpoints: [] }), 'models[0].endpoints: must have at least one entry'],
  [upstream({ endpoints: [{ url: 'ftp://a' }] }), `models[0].endpoints[0].url: ${endpoint}`],
  [upstream({ endpoints: [{ url: 'https://key@a/v1' }] }), `models[0].endpoints[0].url: ${endpoint}`],
  [
    upstream({ endpoints: [{ url: 'https://a', weight: 0 }] }),
    'models[0].endpoints[0].weight: must be a whole number from 1 to 1000',
  ],
  [provider({ issuer: 'http://login.example.com' }), `sign_in.providers[0].issuer: ${secure}`],
  [provider({ issuer: 'http://localhost.example.com' }), `sign_in.providers[0].issuer: ${secure}`],
  [provider({ issuer: 'http://127.0.0.1.example.com' }), `sign_in.providers[0].issuer: ${secure}`],
  [provider({ issuer: 'https://login.example.com?x' }), `sign_in.providers[0].issuer: ${issuer}`],
  [provider({ issuer: 'https://u@login.example.com' }), `sign_in.providers[0].issuer: ${issuer}`],
  [provider({ trust_email: 'yes' }), 'sign_in.providers[0].trust_email: must be one of never, when_verified, always'],
]

const local = { id: 'a', engine: 'local', file: 'f', context: 9, max_output_tokens: 1 }
const vectors = {
  id: 'b',
  engine: 'openai',
  kind: 'embeddings',
  endpoints: [{ url: 'http://127.0.0.1:9101/v1' }],
  upstream_model: 'm',
  context: 9,
  price: { input: '0.1' },
}
const embeddings = (changes: object) => stringify({ models: [{ ...vectors, ...changes }] })

const kinds: Case[] = [
  [upstream({ kind: 'embedding' }), 'models[0].kind: must be one of text, embeddings; did you mean embeddings?'],
  [upstream({ kind: 3 }), 'models[0].kind: must be one of text, embeddings'],
  [embeddings({ max_output_tokens: 9 }), 'models[0].max_output_tokens: is not a setting'],
  [embeddings({ fallback: 'x' }), 'models[0].fallback: is not a setting'],
  [embeddings({ price: { input: '0.1', output: '0' } }), 'models[0].price.output: is not a setting'],
  [
    embeddings({ tokenizer: 'vllm' }),
    'models[0].tokenizer: must be another one: vllm counts chats, not the texts of embeddings',
  ],
  [
    stringify({ models: [{ ...local, fallback: 'b' }, vectors] }),
    'models[0].fallback: must be a text model, not an embedding model',
  ],
  [
    stringify({ models: [{ ...local, kind: 'embeddings', dimensions: [8, 0] }] }),
    'models[0].max_output_tokens: is not a setting',
    'models[0].dimensions[1]: must be a whole number from 1 to 65536',
  ],
  [stringify({ models: [{ ...local, kind: 'vectors' }] }), 'models[0].kind: must be one of text, embeddings'],
  [
    stringify({
      models: [{ ...local, engine: 'ai-sdk', package: 'p', upstream_model: 'm', file: undefined, kind: 'embeddings' }],
    }),
    'models[0].kind: is not a setting; did you mean id?',
  ],
]

const standard = { input: '2', output: '8' }
const ruled = (rules: object) => upstream({ price: { ...standard, ...rules } })
const step = (above: number, rest: object = {}) => ({ above, ...standard, ...rest })

const priceRules: Case[] = [
  [ruled({ steps: [] }), 'models[0].price.steps: must have at least one entry'],
  [
    upstream({ price: { steps: [step(10)] } }),
    `models[0].price.input: is missing: it ${price}`,
    `models[0].price.output: is missing: it ${price}`,
  ],
  [ruled({ steps: [step(0)] }), 'models[0].price.steps[0].above: must be a whole number from 1 to 100000000'],
  [
    ruled({ steps: [step(10), step(10)] }),
    'models[0].price.steps[1].above: must be above 10, that of the step before it',
  ],
  [ruled({ steps: [step(10, { output: '2' })] }), 'models[0].price.steps[0].output: must be above the input price 2'],
  [
    ruled({ steps: [step(10, { cached_input: '3' })] }),
    'models[0].price.steps[0].cached_input: must not be above the input price 2',
  ],
  [
    ruled({ steps: Array.from({ length: 9 }, (_, index) => step(index + 1)) }),
    'models[0].price.steps: must have at most 8 entries',
  ],
  [
    ruled({ cache_write: '3', cache_write_1h: '2.5' }),
    'models[0].price.cache_write_1h: must not be below the price 3 of other cache writes',
  ],
  [
    ruled({ cache_write_1h: '1' }),
    'models[0].price.cache_write_1h: must not be below the price 2 of other cache writes',
  ],
  [
    ruled({ service_tiers: { flex: {} } }),
    'models[0].price.service_tiers.flex: must have a factor, or prices of its own',
  ],
  [
    ruled({ service_tiers: { flex: { input: '1', steps: [step(5)] } } }),
    'models[0].price.service_tiers.flex.output: is missing: it is a price of the first step',
  ],
  [
    ruled({ service_tiers: { flex: { factor: '0.5', input: '1' } } }),
    'models[0].price.service_tiers.flex.factor: must be alone: give either it or prices',
  ],
  [
    ruled({ service_tiers: { default: { factor: '0.5' } } }),
    'models[0].price.service_tiers.default: must not be given: it is the standard tier, whose prices are the price itself',
  ],
  [
    ruled({ service_tiers: { 'a b': { factor: '0.5' } } }),
    'models[0].price.service_tiers["a b"]: must be named by at most 64 letters, digits and . _ -',
  ],
  [
    ruled({ service_tiers: { flex: { factor: '0' } } }),
    'models[0].price.service_tiers.flex.factor: must be above 0',
    'models[0].price.service_tiers.flex: must have a factor, or prices of its own',
  ],
  [
    ruled({ service_tiers: { flex: { factor: 0.5 } } }),
    'models[0].price.service_tiers.flex.factor: must be a decimal number in quotes such as "1.1"',
    'models[0].price.service_tiers.flex: must have a factor, or prices of its own',
  ],
  [
    ruled({ input: '0.000001', service_tiers: { flex: { factor: '0.5' } } }),
    'models[0].price.service_tiers.flex.factor: must leave prices of at most 6 decimals: 0.000001 × 0.5 has more',
  ],
  [
    ruled({ input: '0.0001', service_tiers: { flex: { factor: '0.01' } }, regions: { us: '1.1' } }),
    'models[0].price.regions.us: must leave prices of at most 6 decimals: 0.000001 × 1.1 has more',
  ],
  [
    ruled({ regions: { global: '1.1' } }),
    "models[0].price.regions.global: must not be given: it is the vendor's word for no region",
  ],
  [ruled({ image: '0.0000000001' }), 'models[0].price.image: must have at most 9 decimals'],
  [
    ruled({ tools: { web_serch: '0.01' } }),
    'models[0].price.tools.web_serch: is not a setting; did you mean web_search?',
  ],
  [ruled({ tools: { web_search: '-1' } }), 'models[0].price.tools.web_search: must not be negative'],
]

const prices: Case[] = [
  [upstream({ price: { input: 0.1, output: '0.4' } }), `models[0].price.input: ${price}`],
  [upstream({ price: { input: '0.1' } }), `models[0].price.output: is missing: it ${price}`],
  [
    upstream({ price: { input: '1e-1', output: '0.4' } }),
    'models[0].price.input: must be a decimal number such as 0.40',
  ],
  [upstream({ price: { input: '0.1', output: '0.4000000' } }), 'models[0].price.output: must have at most 6 decimals'],
  [upstream({ price: { input: '-0.1', output: '0.4' } }), 'models[0].price.input: must not be negative'],
  [
    upstream({ price: { input: '0.1', output: '1000000.000001' } }),
    'models[0].price.output: must be at most 1000000 per million tokens',
  ],
  [upstream({ price: { input: '0.40', output: '0.4' } }), 'models[0].price.output: must be above the input price 0.4'],
  [
    upstream({ price: { input: '0.40', output: '1', cached_input: '0.41' } }),
    'models[0].price.cached_input: must not be above the input price 0.4',
  ],
  [
    upstream({ price: { input: '0.40', output: '1', cached_input: '-0.1' } }),
    'models[0].price.cached_input: must not be negative',
  ],
  [
    upstream({ price: { input: '0.40', output: '1', cache_write: '-0.1' } }),
    'models[0].price.cache_write: must not be negative',
  ],
  [
    upstream({ price: { input: '0.40', output: '1', cache_write: 'x' } }),
    'models[0].price.cache_write: must be a decimal number such as 0.40',
  ],
  [upstream({ price: { input: '10', output: '9.5' } }), 'models[0].price.output: must be above the input price 10'],
]

const twice = (entry: Record<string, unknown>) => [entry, entry]
const firm = { id: 'firm', name: 'F', issuer: 'https://id.example', client_id: 'x' }

const vendor = (changes: object) =>
  upstream({ engine: 'ai-sdk', package: '@ai-sdk/anthropic', endpoints: undefined, ...changes })

const rules: Case[] = [
  [
    'listen: { processes: 2 }',
    'listen.processes: must be 1 with a local model, which the shipped model is: its engine uses all cores. For more, serve it with llama-server as engine: openai',
  ],
  [
    `${stringify({ models: [local] })}listen: { processes: "2" }`,
    'listen.processes: must be 1 with a local model, which models[0] is: its engine uses all cores. For more, serve it with llama-server as engine: openai',
  ],
  [`${upstream()}listen: { processes: 0 }`, 'listen.processes: must be auto or a whole number from 1 to 256'],
  [`${upstream()}listen: { processes: 257 }`, 'listen.processes: must be auto or a whole number from 1 to 256'],
  [`${upstream()}listen: { processes: many }`, 'listen.processes: must be auto or a whole number from 1 to 256'],
  [`${upstream()}listen: { processes: 1.5 }`, 'listen.processes: must be auto or a whole number from 1 to 256'],
  ['documents: { store: s3://files }', 'documents.s3: must be set for a bucket'],
  [
    'documents: { store: /a/b, former_store: c/d }',
    'documents.former_store: must not be a folder, as documents.store is: move the files there, and omit it',
  ],
  [
    'documents: { store: /a/b, former_store: database }',
    'documents.former_store: must be omitted: files in the database are always found',
  ],
  ['session: { idle: 61m, absolute: 1h }', 'session.idle: must be at most the absolute 1h'],
  ['session: { idle: 13h }', 'session.idle: must be at most the absolute 12h'],
  [
    upstream({ timeout: { first_token: '10s', total: '5s' } }),
    'models[0].timeout.first_token: must be at most the total 5s',
  ],
  [vendor({ tokenizer: 'vllm' }), 'models[0].tokenizer: needs models[0].url to ask the server'],
  [vendor({ tokenizer: 'llama-server', key: 'k' }), 'models[0].tokenizer: needs models[0].url to ask the server'],
  [vendor({ tokenizer: 'anthropic' }), 'models[0].tokenizer: needs models[0].key to ask the server'],
  [upstream({ context: 100, max_output_tokens: 100 }), 'models[0].max_output_tokens: must be below the context 100'],
  [stringify({ models: twice(local) }), 'models[1].id: must differ from models[0].id: both are a'],
  [
    stringify({ sign_in: { providers: twice(firm) } }),
    'sign_in.providers[1].id: must differ from sign_in.providers[0].id: both are firm',
  ],
  [`${upstream()}aliases: { default: tiny }`, 'aliases.default: must point to a model: one of fast'],
  [`${upstream()}aliases: { a: fast, b: a }`, 'aliases.b: must point to a model: one of fast'],
  [`${upstream()}aliases: { fast: fast }`, 'aliases.fast: must not be the id of a model'],
  [`${upstream({ id: 5 })}aliases: { a: fast }`, `models[0].id: ${name}`],
  [
    upstream({ engine: 'ai-sdk', endpoints: undefined, package: './evil.js' }),
    'models[0].package: must be the name of an npm package such as @ai-sdk/anthropic',
  ],
  [
    upstream({ engine: 'ai-sdk', endpoints: undefined, package: 'node:fs' }),
    'models[0].package: must be the name of an npm package such as @ai-sdk/anthropic',
  ],
  [upstream({ capabilities: 'tools' }), 'models[0].capabilities: must be a list'],
  [
    upstream({ capabilities: ['json', 'tool'] }),
    'models[0].capabilities[1]: must be one of tools, forced_tools, json, images, documents, reasoning, verbosity',
  ],
  [
    'limits: { fetch_hosts: [a/b] }',
    'limits.fetch_hosts[0]: must be a host such as images.example.com or images.example.com:8443',
  ],
  [upstream({ pass: 'top_k' }), 'models[0].pass: must be a list'],
  [upstream({ pass: ['top_k', 'a b'] }), 'models[0].pass[1]: must be the name of a field such as top_k'],
  [
    upstream({ pass: ['plugins'] }),
    'models[0].pass[0]: must not be plugins, which Tollgate reads itself or has to refuse: see the fields in docs/api.md',
  ],
  [
    upstream({ engine: 'ai-sdk', endpoints: undefined, package: 'x', pass: ['top_k'] }),
    'models[0].pass: is not a setting',
  ],
  [upstream({ prefill: 'yes' }), 'models[0].prefill: must be one of plain, prefix, partial, continue_final_message'],
  [
    upstream({ engine: 'ai-sdk', endpoints: undefined, package: '@ai-sdk/openai', prefill: 'plain' }),
    'models[0].prefill: must be omitted: @ai-sdk/openai is not known to continue a message of the assistant',
  ],
  [upstream({ fallback: 'fast' }), 'models[0].fallback: must be another model'],
  [upstream({ fallback: 'slow' }), 'models[0].fallback: must be a model: one of fast'],
  [upstream({ fallback: 5 }), `models[0].fallback: ${name}`],
  [upstream({ id: 5, fallback: 'slow' }), `models[0].id: ${name}`],
  ['aliases: { tiny: tiny }', 'aliases.tiny: must not be the id of a model'],
  ['aliases: { quick: tinny }', 'aliases.quick: must point to a model: one of tiny'],
  ['aliases: { "a b": tiny }', `aliases["a b"]: must itself be ${name.slice('must be '.length)}`],
  [
    'sign_in: { sign_up: { policy: domain } }',
    'sign_in.sign_up.domains: must have at least one domain for the policy domain',
  ],
]

const variables: Case[] = [
  ['currency: "${MISSING}"', 'currency: names the environment variable MISSING, which is not set'],
  ['currency: "${EMPTY}"', 'currency: names the environment variable EMPTY, which is empty'],
  ['currency: "${constructor}"', 'currency: names the environment variable constructor, which is not set'],
  [
    'currency: "${A}${B}"',
    'currency: names the environment variable A, which is not set',
    'currency: names the environment variable B, which is not set',
  ],
  ['currency: "${A"', 'currency: has a ${ that is not of the form ${NAME}'],
  ['currency: "${my-var}"', 'currency: has a ${ that is not of the form ${NAME}'],
]

const form: Case[] = [
  ['models: [1, 2', 'test.yaml:1:14: Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ['currency: USD\ncurrency: EUR', 'test.yaml:2:1: Map keys must be unique'],
  ['listen:\n\tport: 1', 'test.yaml:2:1: Tabs are not allowed as indentation'],
  ['currency: USD\n---\ncurrency: EUR', 'test.yaml:2:1: Source contains multiple documents'],
  ['currency: !!js/function x', 'test.yaml:1:11: Unresolved tag: tag:yaml.org,2002:js/function'],
  ['currency: *x', 'test.yaml: cannot be read as YAML: Unresolved alias (the anchor must be set before the alias): x'],
]

describe('an error is one line with its path and what is expected', () => {
  for (const [yaml, ...lines] of [
    ...shapes,
    ...values,
    ...kinds,
    ...prices,
    ...priceRules,
    ...rules,
    ...variables,
    ...form,
  ]) {
    test(JSON.stringify(yaml), () => {
      assert.deepEqual(
        faultsOf(() => load(yaml, { EMPTY: '' })),
        lines,
      )
    })
  }
})

test('all errors of the file are reported together', () => {
  const lines = faultsOf(() =>
    load(`
currency: usd
limits: { request_byte: 1MiB }
models:
  - { id: a, engine: locl, context: 10, max_output_tokens: 11 }
  - { id: b, engine: local, file: x, context: 10, max_output_tokens: 10, price: { input: 0.10, output: "0.1234567" } }
  - { id: b, engine: local, file: x, context: 10, max_output_tokens: 9, price: { input: "0.40", output: "0.30" } }
aliases: { b: b, c: nowhere }
sms: { url: "https://sms.example", token: "\${SMS_TOKEN}" }
`),
  )
  assert.deepEqual(lines, [
    'currency: must be a currency code of three capital letters such as USD',
    'models[0].engine: must be one of local, openai, ai-sdk; did you mean local?',
    'models[1].price.input: must be a decimal number in quotes such as "0.40"',
    'models[1].price.output: must have at most 6 decimals',
    'limits.request_byte: is not a setting; did you mean request_bytes?',
    'sms.token: names the environment variable SMS_TOKEN, which is not set',
    'models[0].max_output_tokens: must be below the context 10',
    'models[1].max_output_tokens: must be below the context 10',
    'models[2].id: must differ from models[1].id: both are b',
    'aliases.b: must not be the id of a model',
    'aliases.c: must point to a model: one of a, b',
    'models[2].price.output: must be above the input price 0.4',
  ])
})

test('a secret is never quoted', () => {
  const secrets = { KEY: 'hunter2 hunter2', DATABASE_URL: 'postgre://u:hunter2@db' }
  const changes = { endpoints: [{ url: 'https://${KEY}' }], context: '${KEY}', price: '${KEY}' }
  const lines = faultsOf(() => load(`${upstream(changes)}database: hunter2`, secrets))
  assert.equal(lines.length, 5)
  assert.doesNotMatch(lines.join('\n'), /hunter2/)
})
