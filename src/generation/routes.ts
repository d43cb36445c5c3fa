import type { Audit } from '../access/audit/audit.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Keys } from '../accounts/keys/keys.ts'
import type { Till } from '../billing/till/till.ts'
import type { Config } from '../platform/config/config.ts'
import type { Server } from '../platform/http/server.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import type { OwnUsage } from '../usage/own/own.ts'
import type { ApiRefusal } from '../usage/requests/refusals.ts'
import { authorizationOf, callerOf, checkAttribution, refuseBrowser, type IsClient } from './calls/caller.ts'
import { registerCalls, type Callers, type CallsNeeds } from './calls/calls.ts'
import type { ImageFetcher } from './files/image-fetcher.ts'
import type { Generation, Reply } from './generation.ts'
import { refusalNotes } from './calls/refusal-notes.ts'
import { registerTryIt } from './try/routes.ts'
import type { FastifyRequest } from 'fastify'
import { anthropicMessages } from './dialects/anthropic/anthropic-messages.ts'
import type { Permissions, WireFormat } from './dialects/dialect.ts'
import { openAiFormat } from './dialects/openai.ts'

export { nameForSamples } from './models/model-list.ts'
export { faultOfTryIt } from './try/payment.ts'
export { tryItUrl } from './try/routes.ts'
export interface GenerationRoutesNeeds {
  readonly generation: Generation
  readonly keys: Keys
  readonly till: Till
  readonly isClient: IsClient
  readonly own: OwnUsage
  readonly accounts: Pick<Accounts, 'find'>
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  /** `try_it` of the configuration. */
  readonly tryIt: Config['try_it']
  /** The URL that links to the documentation start with. */
  readonly baseUrl: string
  /** The largest request body without its images and documents, in bytes. */
  readonly requestBytes: number
  /** The most bytes of the images and documents of one request. */
  readonly fileBytes: number
  readonly permitted: Permissions
  readonly images: Pick<ImageFetcher, 'check'>
  /** Adds further routes for callers with a key. */
  readonly moreCalls?: ((v1: Server) => void) | undefined
  /** Called for every charged reply. */
  readonly onCharged?: (model: string, usage: Reply['usage']) => void
  /** Called for every request with a key that was refused or failed, and so not charged. */
  readonly onRefused?: (refusal: ApiRefusal) => void
}

/** Registers Area A: the routes that a caller's backend uses with an API key, and the same for people who try them. */
export function registerGeneration(server: Server, needs: GenerationRoutesNeeds): void {
  const { generation, onRefused } = needs
  const calls: CallsNeeds = { ...needs, noteRefusal: refusalNotes(generation, onRefused) }
  server.jsonOnlyUrls.add('/v1', { noStore: true })
  server.decorateRequest('caller', undefined)
  server.addHook('onClose', () => generation.close())
  const addCalls = async (v1: Server): Promise<void> => {
    registerCalls(v1, withKeys(needs), calls)
    needs.moreCalls?.(v1)
  }
  void server.register(addCalls, { prefix: '/v1' })
  registerTryIt(server, calls, needs)
}

/** The callers that send an API key. */
function withKeys({ keys, isClient }: Pick<GenerationRoutesNeeds, 'keys' | 'isClient'>): Callers {
  return {
    identify(request) {
      refuseBrowser(request)
      return keys.identify(authorizationOf(request))
    },
    identifyAgain: (request) => keys.identifyAgain(callerOf(request)),
    checkClient: (caller, clientId) => checkAttribution(caller, clientId, isClient),
  }
}

/** The first segments, below `/v1`, of OpenAI's endpoints. */
const openAi =
  /^\/v1\/(?:assistants|audio|batches|chat|completions|containers|conversations|embeddings|evals|files|fine_tuning|images|models|moderations|realtime|responses|threads|uploads|vector_stores|videos)(?:[/?]|$)/

const anthropic = /^\/v1\/(?:complete|messages|organizations|skills)(?:[/?]|$)/

/** The error format for a URL that no route serves: that of the API whose client sent the request. */
export function formatOfUnknownUrl({ url, headers }: FastifyRequest): WireFormat | undefined {
  if (!url.startsWith('/v1/')) return undefined
  if (headers['anthropic-version'] !== undefined || anthropic.test(url)) return anthropicMessages
  const isOpenAiClient = headers['user-agent']?.includes('OpenAI/') === true
  return isOpenAiClient || openAi.test(url) ? openAiFormat : undefined
}

/** Endpoints of other APIs as clients call them whose base URL lacks `/v1`. */
const withoutVersion = /^\/(?:chat\/completions|responses|embeddings)(?=\?|$)/

/** What to do instead of calling a URL that clients of other APIs call: an older one, or one below a wrong base URL. */
export function hintForUnknownUrl(url: string): string | undefined {
  if (/^\/v1\/completions(?:\?|$)/.test(url)) {
    return 'Call POST /v1/chat/completions instead: send the prompt as a message of the user.'
  }
  const [called] = withoutVersion.exec(url) ?? []
  if (called !== undefined) return `Call /v1${called} instead: the base URL of this client must end with /v1.`
  return url.startsWith('/v1/v1/') ? 'Remove /v1 from the end of the base URL: this client adds it.' : undefined
}
