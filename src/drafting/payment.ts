import type { Actor } from '../access/actor.ts'
import { byRole } from '../access/policy.ts'
import { findPaying, type Accounts } from '../accounts/accounts.ts'
import type { Generation } from '../generation/generation.ts'
import type { Config } from '../platform/config/config.ts'
import { quoted } from '../platform/text/one-line.ts'
import { Problem } from '../platform/problems.ts'

/** The account that pays for drafts, and the model that writes them. */
export interface DraftPayer {
  readonly accountId: string
  readonly model: string
  /** Tokens of the prompt and the reply together. */
  readonly contextTokens: number
  readonly maxOutputTokens: number
}

interface PaymentNeeds {
  readonly settings: Config['drafting']
  readonly accounts: Pick<Accounts, 'find'>
  readonly generation: Pick<Generation, 'model'>
}

/** Finds the account and the model of the configuration anew for each draft, since either may have changed. */
export function createPayment({ settings, accounts, generation }: PaymentNeeds) {
  /** A Problem `conflict` says, to partners, what is wrong with the configuration, and what to do. */
  async function find(actor: Actor): Promise<DraftPayer | Problem> {
    const fault = (partner: string) =>
      new Problem(
        'conflict',
        byRole(actor, { partner, consultant: 'No letter can be drafted now. Ask a partner to check the settings.' }),
      )
    if (settings === undefined) {
      return fault('Drafting is not set up: add the group "drafting" to the configuration.')
    }
    const account = await findPaying(accounts, settings.account, setting)
    if (typeof account === 'string') return fault(account)
    try {
      const model = generation.model(settings.model, null)
      return {
        accountId: account.id,
        model: model.id,
        contextTokens: model.context_length,
        maxOutputTokens: model.max_output_tokens,
      }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return fault(faultOfDraftingModel(settings.model))
    }
  }
  return Object.freeze({ find })
}

const setting = 'drafting.account'

const faultOfDraftingModel = (name: string): string =>
  `drafting.model names the model ${quoted(name)}, which is not configured. Name another model.`

/** Why drafting would not work with this configuration; null if it would, or is not set up. */
export async function faultOfDrafting(
  { drafting, models, aliases }: Pick<Config, 'drafting' | 'models' | 'aliases'>,
  accounts: Pick<Accounts, 'find'>,
): Promise<string | null> {
  if (drafting === undefined) return null
  const account = await findPaying(accounts, drafting.account, setting)
  if (typeof account === 'string') return account
  const isKnown = Object.hasOwn(aliases, drafting.model) || models.some(({ id }) => id === drafting.model)
  return isKnown ? null : faultOfDraftingModel(drafting.model)
}
