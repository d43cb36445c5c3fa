import { Type } from 'typebox'
import type { Audit } from '../access/audit/audit.ts'
import { permitted } from '../access/permitted.ts'
import { visitOf } from '../access/visits.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Keys } from '../accounts/keys/keys.ts'
import { parsePrice, writtenPrice } from '../billing/prices/money.ts'
import { readPriceRules } from '../billing/prices/read-rules.ts'
import type { PriceEntry, Prices } from '../billing/prices/prices.ts'
import type { ModelKind } from '../platform/config/config.ts'
import { answers, needsSession, refusals, refusalsOfBody, refusalsOfPeople } from '../platform/http/openapi.ts'
import { parseIsoTime } from '../platform/text/calendar.ts'
import { represent } from '../platform/http/pages/representation.ts'
import type { Server } from '../platform/http/server.ts'
import { quoted } from '../platform/text/one-line.ts'
import { Problem } from '../platform/problems.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import type { Catalogue, ConfiguredModel } from './catalogue.ts'
import type { ExampleValues } from '../platform/http/examples.ts'
import { listCapabilities } from './capabilities.ts'
import * as schema from './schema.ts'

export interface ModelRouteNeeds {
  readonly catalogue: Pick<Catalogue, 'configured'>
  readonly prices: Pick<Prices, 'list' | 'set' | 'refresh'>
  readonly accounts: Pick<Accounts, 'list'>
  readonly keys: Pick<Keys, 'list'>
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
  readonly currency: string
}

/** /models, for partners: the configured models, their state and their prices. */
export function registerModelConsole(server: Server, needs: ModelRouteNeeds): void {
  const { catalogue, prices, audit, currency } = needs

  server.get(
    '/models',
    { onRequest: permitted(needs, 'list', 'model'), schema: listConfiguredModels },
    async (request, reply) => {
      const [history, uses] = await Promise.all([
        prices.list(),
        readKeyUses(needs),
        audit.record({ ...visitOf(request), action: 'models_listed', outcome: 'allowed', noun: 'model' }),
      ])
      const models = catalogue.configured().map((each) => presentConfigured(each, history, uses))
      const unlimited = uses.filter(({ allowedModels }) => allowedModels === null).length
      return represent(reply, request, { data: { models, unlimited_keys: unlimited, currency } })
    },
  )

  server.post(
    '/models/:model/prices',
    { onRequest: permitted(needs, 'change', 'model'), schema: setPrice },
    async (request, reply) => {
      const { input, output, cached_input: cached, cache_write: write, valid_from: from, ...rules } = request.body
      const { id: model, kind } = findConfigured(catalogue, request.params.model)
      const price = {
        input: priceIn(input, 'input'),
        output: outputPriceIn(output, kind),
        cachedInput: cached === undefined ? undefined : priceIn(cached, 'cached_input'),
        cacheWrite: write === undefined ? undefined : priceIn(write, 'cache_write'),
        rules: readPriceRules(rules),
      }
      const begins = from === undefined ? undefined : timeIn(from)
      const validFrom = await prices.set(model, price, visitOf(request), begins, kind)
      await prices.refresh()
      return reply.code(201).send({ model, ...writtenPrice(price), valid_from: validFrom.toISOString() })
    },
  )
}

function findConfigured(catalogue: Pick<Catalogue, 'configured'>, id: string) {
  const all = catalogue.configured()
  const found = all.find(({ model }) => model.id === id)
  if (found) return { id, kind: found.kind }
  const named = all.find(({ aliases }) => aliases.includes(id))
  const hint = named ? `${quoted(id)} is an alias of ${named.model.id}: set the price of that model.` : undefined
  throw new Problem('not_found', hint ?? `No configured model has the id ${quoted(id)}.`)
}

function outputPriceIn(text: string | undefined, kind: ModelKind): bigint {
  if (text !== undefined) return priceIn(text, 'output')
  if (kind === 'embeddings') return 0n
  throw new Problem('missing_field', 'The field output is missing.', { field: 'output' })
}

function priceIn(text: string, field: string): bigint {
  try {
    return parsePrice(text)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new Problem('invalid_field', `The price ${error.message}.`, { field })
  }
}

function timeIn(text: string): Date {
  const time = parseIsoTime(text)
  if (time !== undefined) return time
  const reason = 'The time must be a date such as 2030-01-31, or a time such as 2030-01-31T12:00:00Z.'
  throw new Problem('invalid_field', reason, { field: 'valid_from' })
}

/** The names by which the configured models are called. */
export function modelNamesOf(catalogue: Pick<Catalogue, 'configured'>): { name: string; alias_of: string | null }[] {
  return catalogue
    .configured()
    .flatMap(({ model, aliases }) => [
      { name: model.id, alias_of: null },
      ...aliases.map((name) => ({ name, alias_of: model.id })),
    ])
}

/** A model with its price, for the documentation. */
export const pricedModelExamples = {
  'Models and prices': {
    model: 'tiny',
    'models.id': 'tiny',
    kind: 'text',
    aliases: ['default'],
    context: 1024,
    max_output_tokens: 512,
    capabilities: ['forced_tools', 'json'],
    fallback: null,
    reason: null,
    input: '0.10',
    output: '0.40',
    'setPrice.request': { input: '0.12', output: '0.48', valid_from: '2026-04-01' },
    'setPrice.response.input': '0.12',
    'setPrice.response.output': '0.48',
    'setPrice.response.valid_from': '2026-04-01T00:00:00.000Z',
    public_id: '4XkQ7mZp9RtB',
    'keys.name': 'backend',
    'account.name': 'Acme',
    unlimited_keys: 1,
    currency: 'GBP',
  },
} satisfies ExampleValues

interface KeyUseNeeds {
  readonly accounts: Pick<Accounts, 'list'>
  readonly keys: Pick<Keys, 'list'>
}

/** The valid keys of open accounts, in order of creation. */
async function readKeyUses({ accounts, keys }: KeyUseNeeds): Promise<KeyUse[]> {
  const [allAccounts, allKeys] = await Promise.all([accounts.list(), keys.list()])
  const open = new Map(allAccounts.filter(({ status }) => status === 'open').map(({ id, name }) => [id, { id, name }]))
  return allKeys.flatMap(({ id, publicId, name, accountId, allowedModels, status }) => {
    const account = open.get(accountId ?? '')
    return status === 'valid' && account ? [{ id, publicId, name, account, allowedModels }] : []
  })
}

/** A key that works, and the names of models to which it is limited; null: every model. */
interface KeyUse {
  readonly id: string
  readonly publicId: string
  readonly name: string
  readonly account: { readonly id: string; readonly name: string }
  readonly allowedModels: readonly string[] | null
}

function presentConfigured(
  { model, engine, kind, aliases, fallback, price }: ConfiguredModel,
  history: readonly PriceEntry[],
  uses: readonly KeyUse[],
): schema.ConfiguredModelJson {
  const own = history.filter((entry) => entry.model === model.id)
  const inForce = own.find(({ state }) => state === 'in force')
  const names = [model.id, ...aliases]
  const { ready, reason } = model.health()
  return {
    id: model.id,
    engine,
    kind,
    aliases: [...aliases],
    context: model.contextTokens,
    max_output_tokens: model.maxOutputTokens,
    capabilities: listCapabilities(model.capabilities),
    fallback: fallback ?? null,
    ready,
    reason: reason ?? null,
    price: inForce ? writtenPrice(inForce) : null,
    configured_price: price ? writtenPrice(price) : null,
    prices: own.map(presentEntry),
    keys: uses
      .filter(({ allowedModels }) => allowedModels?.some((name) => names.includes(name)))
      .map(({ id, publicId, name, account }) => ({ id, public_id: publicId, name, account })),
  }
}

function presentEntry(entry: PriceEntry): schema.ListedPrice {
  const { validFrom, source, state } = entry
  return { ...writtenPrice(entry), valid_from: validFrom.toISOString(), source, state }
}

/** What all operations of /models have. */
const inModels = { tags: ['Models and prices'], ...needsSession }

const listConfiguredModels = {
  ...inModels,
  operationId: 'listConfiguredModels',
  summary: 'List models and their prices',
  description: 'All configured models with their state, their prices, and the keys limited to them. For partners.',
  response: {
    200: answers(schema.consoleModels, 'All models.'),
    ...refusals(refusalsOfPeople),
  },
}

const setPrice = {
  ...inModels,
  operationId: 'setPrice',
  summary: 'Set the price of a model',
  description:
    'Past charges keep theirs. It stays in force until another price is set, or the price in the configuration changes. For partners.',
  params: Type.Object({ model: Type.String({ description: 'The id of the model, not an alias.' }) }),
  body: schema.newPriceBody,
  response: {
    201: answers(schema.newPrice, 'The price.'),
    ...refusals([...refusalsOfPeople, ...refusalsOfBody, 'not_found', 'cross_site_request', 'recent_sign_in_required']),
  },
}
