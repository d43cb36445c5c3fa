import type { Accounts } from '../accounts/accounts.ts'
import type { Generation } from '../generation/generation.ts'
import type { Config } from '../platform/config/config.ts'
import { quoted } from '../platform/one-line.ts'
import { Problem } from '../platform/problems.ts'

/** The account that pays for drafts, and the model that writes them. */
export interface Paid {
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
  /** A Problem `conflict` says what is wrong with the configuration, and what to do. */
  async function find(): Promise<Paid | Problem> {
    if (settings === undefined) {
      return new Problem('conflict', 'Drafting is not set up: add the group "drafting" to the configuration.')
    }
    const fault = await faultOfAccount(accounts, settings.account)
    if (typeof fault === 'string') return new Problem('conflict', fault)
    try {
      const model = generation.model(settings.model, null)
      return {
        accountId: fault.id,
        model: model.id,
        contextTokens: model.context_length,
        maxOutputTokens: model.max_output_tokens,
      }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return new Problem('conflict', faultOfDraftingModel(settings.model))
    }
  }
  return Object.freeze({ find })
}

/** The account that drafting is to use, or why it cannot. */
async function faultOfAccount(
  accounts: Pick<Accounts, 'find'>,
  name: string,
): Promise<{ readonly id: string } | string> {
  const account = await accounts.find(name).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'not_found') return undefined
    throw error
  })
  if (account === undefined) {
    return `Drafting is to be paid by the account ${quoted(name)}, which does not exist. Create it: ./tollgate account create --own --name ${quoted(name)}`
  }
  const mark = `Mark it: ./tollgate account own ${quoted(account.name)}`
  if (!account.own) return `Drafting is to be paid by the account ${quoted(name)}, which is not the firm's own. ${mark}`
  if (account.status === 'closed') {
    return `Drafting is to be paid by the account ${quoted(name)}, which is closed. Name another in drafting.account.`
  }
  return account
}

const faultOfDraftingModel = (name: string): string =>
  `Drafting is to use the model ${quoted(name)}, which is not configured. Name another in drafting.model.`

/** Why drafting would not work with this configuration; null if it would, or is not set up. */
export async function faultOfDrafting(
  { drafting, models, aliases }: Pick<Config, 'drafting' | 'models' | 'aliases'>,
  accounts: Pick<Accounts, 'find'>,
): Promise<string | null> {
  if (drafting === undefined) return null
  const account = await faultOfAccount(accounts, drafting.account)
  if (typeof account === 'string') return account
  const isKnown = Object.hasOwn(aliases, drafting.model) || models.some(({ id }) => id === drafting.model)
  return isKnown ? null : faultOfDraftingModel(drafting.model)
}
