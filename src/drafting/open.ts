import type { RecordAccess } from '../access/access.ts'
import type { Config } from '../platform/config/config.ts'
import type { Feature } from '../platform/feature.ts'
import { createDrafting, type Drafting, type DraftingNeeds } from './drafting.ts'
import { registerDrafting, type DraftingRouteNeeds } from './routes.ts'
import { createTemplates } from './templates.ts'

interface OpenNeeds
  extends Omit<DraftingNeeds, 'settings' | 'firm'>, Pick<DraftingRouteNeeds, 'sessions' | 'audit' | 'baseUrl'> {
  readonly config: Pick<Config, 'drafting' | 'firm'>
  readonly access: RecordAccess
}

export interface DraftingFeature extends Feature {
  readonly drafting: Drafting
  close(this: void): Promise<void>
}

/** Opens the drafting of letters, and takes over the drafts of instances that have stopped. Its server ends the drafts in progress. */
export function openDrafting(needs: OpenNeeds): DraftingFeature {
  const drafting = createDrafting({ ...needs, settings: needs.config.drafting, firm: needs.config.firm.name })
  const templates = createTemplates(needs)
  return {
    drafting,
    close: drafting.close,
    routes: (server) => registerDrafting(server, { ...needs, drafting, templates }),
  }
}
