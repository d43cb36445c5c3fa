import type { Feature } from '../platform/feature.ts'
import type { Logger } from 'pino'
import { registerAccountUsage, type AccountUsageRouteNeeds } from './account/routes.ts'
import { createOwnUsage, type OwnUsage } from './own/own.ts'
import { createApiRefusals, type ApiRefusals } from './requests/refusals.ts'
import { registerUsage, type UsageRouteNeeds } from './routes.ts'

interface OpenNeeds extends UsageRouteNeeds, AccountUsageRouteNeeds {
  readonly log: Logger
}

export interface UsageFeature extends Feature {
  /** What accounts read about themselves. */
  readonly own: OwnUsage
  readonly refusals: ApiRefusals
  close(this: void): Promise<void>
}

export function openUsage(needs: OpenNeeds): UsageFeature {
  const refusals = createApiRefusals(needs)
  return Object.freeze({
    own: createOwnUsage(needs),
    refusals,
    routes: (server) => {
      registerUsage(server, needs)
      registerAccountUsage(server, needs)
    },
    close: () => refusals.close(),
  } satisfies UsageFeature)
}
